// The hall at a glance: every table with position, clocks, health, and what is open on it.

import { onTick } from '../shared/clock.js';
import { el, fill, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { fits } from '../shared/find.js';
import { arrowKeys } from '../shared/keys.js';
import { pref, setPref } from '../shared/prefs.js';
import { batch } from '../shared/store.js';
import { GLIDE_UP_TO, Tile, usualSize } from '../shared/tile.js';
import { isOpen, isQuiet } from './alert.js';

const FILTERS = {
  all: () => true,
  attention: (table) => [...table.alerts.values()].some((alert) => isOpen(alert) && !isQuiet(alert)),
  playing: (table) => table.status === 'playing' && !table.result,
  ended: (table) => Boolean(table.result) || table.status === 'ended',
  trouble: (table) => table.link?.online === false || table.link?.clock === false,
};
const SIZES = { small: '150px', medium: '205px', large: '300px' };
const SEVERITY = ['decides', 'go-now', 'look'];

export class HallView {
  #tiles = new Map();
  #order = '';

  constructor(context) {
    this.context = context;
    const { store } = context;
    this.search = el('input', { type: 'search', placeholder: t('search'), 'aria-label': t('search'), on: { input: () => this.#filter() } });
    this.filters = Object.keys(FILTERS).map((name) => el('button', { type: 'button', 'data-filter': name, text: t(`filter.${name}`), on: { click: () => setPref('deskFilter', name) } }));
    this.sizes = Object.keys(SIZES).map((name) => el('button', { type: 'button', 'data-size': name, 'aria-label': `${t('size')}: ${name[0].toUpperCase()}`, text: name[0].toUpperCase(), on: { click: () => setPref('size', name) } }));
    this.count = el('p', { class: 'soft', role: 'status' });
    this.grid = el('div', { class: 'grid' });
    this.none = el('p', { class: 'empty', hidden: true });
    this.root = el('div', { class: 'hall' },
      el('h1', { class: 'sr', text: t('hall') }),
      el('div', { class: 'tools' }, this.search, el('div', { class: 'segments', role: 'group' }, this.filters), el('div', { class: 'segments sizes', role: 'group', 'aria-label': t('size') }, this.sizes), this.count),
      this.grid, this.none);
    arrowKeys(this.grid);
    this.later = batch((keys) => (keys.includes('all') ? this.refresh() : this.#update(keys)));
    this.unsubscribe = store.subscribe((kind, table) => {
      if (kind === 'snapshot' || kind === 'tables') this.later('all');
      else if (table !== null && kind !== 'sensed') this.later(table);
    });
    this.untick = onTick(() => {
      const now = store.now();
      for (const [number, tile] of this.#tiles) {
        const table = store.tables.get(number);
        if (table?.clock?.running && !tile.root.hidden) tile.tick(table, now);
      }
    });
    this.refresh();
  }

  close() {
    this.unsubscribe();
    this.untick();
  }

  refresh() {
    const tables = this.context.store.sorted();
    const order = tables.map((table) => table.table).join();
    if (order !== this.#order) {
      this.#order = order;
      this.#tiles.clear();
      fill(this.grid, tables.map((table) => {
        const tile = new Tile({ desk: true, href: `#/table/${table.table}`, glide: tables.length <= GLIDE_UP_TO });
        this.#tiles.set(table.table, tile);
        return tile.root;
      }));
    }
    const size = pref('size', usualSize(tables.length));
    this.grid.style.setProperty('--tile', SIZES[size] ?? SIZES.medium);
    for (const button of this.sizes) button.setAttribute('aria-pressed', String(button.dataset.size === size));
    for (const button of this.filters) button.setAttribute('aria-pressed', String(button.dataset.filter === pref('deskFilter', 'all')));
    this.#update([...this.#tiles.keys()]);
  }

  #update(numbers) {
    for (const number of numbers) {
      const table = this.context.store.tables.get(number);
      const tile = this.#tiles.get(number);
      if (!table || !tile) continue;
      tile.now = this.context.store.now();
      tile.update(table);
      const open = [...table.alerts.values()].filter((alert) => alert.state === 'open' && !isQuiet(alert));
      const worst = SEVERITY.find((severity) => open.some((alert) => alert.severity === severity)) ?? '';
      if (tile.root.dataset.severity !== worst) tile.root.dataset.severity = worst;
    }
    this.#filter();
  }

  #filter() {
    const filter = FILTERS[pref('deskFilter', 'all')] ?? FILTERS.all;
    let seen = 0;
    for (const [number, tile] of this.#tiles) {
      const table = this.context.store.tables.get(number);
      const fine = Boolean(table) && fits(table, this.search.value) && filter(table);
      if (tile.root.hidden === fine) tile.root.hidden = !fine;
      if (fine) seen += 1;
    }
    setText(this.count, t('tables', { n: seen }));
    this.none.hidden = seen > 0 || !this.context.store.ready;
    setText(this.none, t(this.context.store.tables.size ? 'search.none' : 'hall.empty'));
  }
}
