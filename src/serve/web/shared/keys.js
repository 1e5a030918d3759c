// Moving about a grid with the keyboard.

/** Moves the focus between links of a grid with the arrow keys. */
export function arrowKeys(root, selector = 'a.tile') {
  root.addEventListener('keydown', (event) => {
    const here = event.target.closest?.(selector);
    if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...root.querySelectorAll(selector)].filter((node) => node.offsetParent !== null);
    const box = here.getBoundingClientRect();
    let to = null;
    if (event.key === 'ArrowRight') to = all[all.indexOf(here) + 1];
    else if (event.key === 'ArrowLeft') to = all[all.indexOf(here) - 1];
    else if (event.key === 'Home') [to] = all;
    else if (event.key === 'End') to = all.at(-1);
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const down = event.key === 'ArrowDown';
      const rows = all.filter((node) => (down ? node.getBoundingClientRect().top > box.top + 5 : node.getBoundingClientRect().top < box.top - 5));
      const distance = (node) => {
        const other = node.getBoundingClientRect();
        return Math.abs(other.top - box.top) * 10 + Math.abs(other.left - box.left);
      };
      to = rows.sort((a, b) => distance(a) - distance(b))[0];
    } else return;
    event.preventDefault();
    to?.focus();
  });
}
