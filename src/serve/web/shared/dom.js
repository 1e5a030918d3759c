// Small helpers for building elements. All text goes in as text, never as markup.
