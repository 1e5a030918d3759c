// Help: what each view is for, with pictures the browser tests take, the colours and the keys.

import { el } from '../shared/dom.js';
import { lang, t } from '../shared/i18n.js';

const PARTS = ['attention', 'table', 'claim', 'trace', 'sheet', 'round', 'roles'];
/** Parts with a picture, and its size. */
const PICTURES = new Set(['attention', 'table', 'claim', 'trace', 'round']);
const KEYS = [['1 2 3 4', 'views'], ['/', 'search'], ['↑ ↓ ← →', 'arrows'], ['Home End', 'ends'], ['s', 'sensed'], ['f', 'flip'], ['␣', 'play'], ['?', 'help']];

export class HelpView {
  constructor() {
    const picture = (name) => el('img', { src: new URL(`../help/${name}.${lang}.jpg`, import.meta.url).href, alt: t(`help.${name}.title`), width: 960, height: 600, loading: 'lazy' });
    this.root = el('div', { class: 'help' }, el('h1', { text: t('help') }),
      el('section', { class: 'box' }, el('h2', { text: t('help.colours') }),
        el('dl', { class: 'legend' }, ['decides', 'go-now', 'look', 'note'].map((severity) => el('div', {}, el('dt', { class: severity, text: t(`severity.${severity}`) }), el('dd', { text: t(`help.${severity}`) }))))),
      PARTS.map((name) => el('section', { class: 'box' }, el('h2', { text: t(`help.${name}.title`) }),
        t(`help.${name}.text`).split('\n').map((text) => el('p', { text })), PICTURES.has(name) && picture(name))),
      el('section', { class: 'box' }, el('h2', { text: t('help.keys') }),
        el('dl', { class: 'legend' }, KEYS.map(([key, name]) => el('div', {}, el('dt', {}, el('kbd', { text: key })), el('dd', { text: t(`help.key.${name}`) }))))));
  }

  close() {}
}
