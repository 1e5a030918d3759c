// What a person chose on this device: language, theme, notation and the like. Nothing of a game.

const KEY = 'arbiterd';
const listeners = new Set();
let values = {};
try {
  values = JSON.parse(localStorage.getItem(KEY) ?? '{}') ?? {};
} catch {
  values = {};
}

/** The chosen value, or the default. */
export function pref(name, fallback = null) {
  return Object.hasOwn(values, name) ? values[name] : fallback;
}

/** Chooses. Where storage is closed to us the choice lasts as long as the page. */
export function setPref(name, value) {
  values[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(values));
  } catch { /* private mode */ }
  applyTheme();
  for (const listener of listeners) listener(name, value);
}

/** Calls back at every choice. */
export function onPref(listener) {
  listeners.add(listener);
}

/** `auto` follows the system. */
export function applyTheme() {
  const theme = pref('theme', 'auto');
  if (theme === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
}
