// Small helpers for building elements. All text goes in as text, never as markup.

/**
 * Makes an element. `props`: `class`, `text`, `on: {event: handler}`, `value`, `checked`, `disabled`,
 * `hidden` as properties, anything else as an attribute (`null` and `false` leave it out).
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'class') node.className = value;
    else if (key === 'text') node.textContent = value;
    else if (key === 'on') for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (key === 'value' || key === 'checked' || key === 'disabled' || key === 'hidden') node[key] = value;
    else node.setAttribute(key, value === true ? '' : String(value));
  }
  put(node, children);
  return node;
}

/** Appends children: nodes, strings (as text), nested lists; `null` and `false` are left out. */
export function put(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    node.append(child);
  }
  return node;
}

/** Replaces the content. */
export function fill(node, ...children) {
  node.replaceChildren();
  return put(node, ...children);
}

/** Sets text only where it differs, so that nothing is painted anew for nothing. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets or removes an attribute only where it differs. */
export function setAttr(node, name, value) {
  if (value === null || value === undefined || value === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

const SVG = 'http://www.w3.org/2000/svg';

/** Makes an SVG element with attributes. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(key, String(value));
  }
  put(node, children);
  return node;
}

/** Line icons, 24 by 24, drawn with the text's colour. */
const ICONS = {
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4',
  grid: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  list: 'M9 6h11M9 12h11M9 18h11M4 6h1M4 12h1M4 18h1',
  log: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7M14 3v5h5',
  gear: 'M4 7h10M18 7h2M4 17h4M12 17h8M16 5v4M10 15v4',
  back: 'M15 5l-7 7 7 7',
  first: 'M18 5l-7 7 7 7M6 5v14',
  prev: 'M15 5l-7 7 7 7',
  next: 'M9 5l7 7-7 7',
  last: 'M6 5l7 7-7 7M18 5v14',
  play: 'M7 4l13 8-13 8z',
  pause: 'M8 5v14M16 5v14',
  flip: 'M7 20V5M3.5 8.5L7 5l3.5 3.5M17 4v15M13.5 15.5L17 19l3.5-3.5',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  embed: 'M9 7l-5 5 5 5M15 7l5 5-5 5',
  check: 'M4 12.5l5 5L20 6.5',
  mute: 'M6 16V11a6 6 0 0 1 9-5.2M18 11v5l2 2H8M10 21h4M4 4l16 16',
  trace: 'M3 12h4l3-8 4 16 3-8h4',
  close: 'M5 5l14 14M19 5L5 19',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1-1',
  broken: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6M4 4l16 16',
  clock: 'M12 3a9 9 0 1 0 .01 0zM12 7v5l3.5 2',
  undo: 'M9 7H4V2M4.5 7A9 9 0 1 1 4 15',
  swap: 'M4 8h14M14 4l4 4-4 4M20 16H6M10 12l-4 4 4 4',
  flag: 'M5 21V4M5 4h12l-2.5 4L17 12H5',
  file: 'M6 3h9l4 4v14H6zM12 18v-7M9 14l3-3 3 3',
  print: 'M7 9V3h10v6M7 18H4v-9h16v9h-3M7 14h10v7H7z',
  help: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5M12 3a9 9 0 1 0 .01 0z',
  expand: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
};

/** A line icon. It is decoration: the control that holds it carries the name. */
export function icon(name) {
  return svg('svg', { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: ICONS[name] ?? '' }));
}

/** A button with an icon and a name that is read out, or shown beside it with `label`. */
export function iconButton(name, title, click, { label = false, ...props } = {}) {
  return el('button', { type: 'button', class: label ? 'button' : 'icon-button', title, 'aria-label': title, ...props, on: { click } },
    icon(name), label && el('span', { text: title }));
}

/** Offers bytes or text as a file. */
export function saveFile(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = el('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
