// The grid of all games: live boards, search and filter, team matches with their score.

import { onTick } from '../shared/clock.js';
import { el, fill, icon, setText } from '../shared/dom.js';
import { fits } from '../shared/find.js';
import { t } from '../shared/i18n.js';
import { arrowKeys } from '../shared/keys.js';
import { matches } from '../shared/people.js';
import { pref, setPref } from '../shared/prefs.js';
import { batch } from '../shared/store.js';
import { GLIDE_UP_TO, Tile, over, usualSize } from '../shared/tile.js';

const SIZES = { small: '150px', medium: '215px', large: '320px' };

export class GridView {
  #tiles = new Map();
  #groups = new Map();
  #shape = '';

  constructor(store) {
    this.store = store;
    this.typed = '';
    this.search = el('input', { type: 'search', placeholder: t('search'), 'aria-label': t('search'), on: { input: () => { this.typed = this.search.value; this.#filter(); } } });
    this.filterButtons = ['all', 'playing', 'ended'].map((name) => el('button', { type: 'button', text: t(`filter.${name}`), on: { click: () => { setPref('filter', name); } } }));
    this.sizeButtons = Object.keys(SIZES).map((name) => el('button', { type: 'button', 'aria-label': `${t('size')}: ${name[0].toUpperCase()}`, title: t('size'), on: { click: () => setPref('size', name) } }, name[0].toUpperCase()));
    this.count = el('p', { class: 'soft', role: 'status' });
    this.pgn = el('a', { class: 'button', href: '/round/current/games.pgn', download: true }, icon('download'), el('span', { text: t('download-all') }));
    this.body = el('div', { class: 'groups' });
    this.none = el('p', { class: 'empty', hidden: true });
    this.root = el('div', { class: 'grid-view' },
      el('div', { class: 'tools' }, this.search,
        el('div', { class: 'segments', role: 'group' }, this.filterButtons),
        el('div', { class: 'segments sizes', role: 'group', 'aria-label': t('size') }, this.sizeButtons),
        this.count, this.pgn),
      this.body, this.none);
    arrowKeys(this.body);
    this.later = batch((keys) => (keys.includes('all') ? this.#build() : this.#update(keys)));
    this.unsubscribe = store.subscribe((kind, table) => {
      if (kind === 'snapshot' || kind === 'tables') this.later('all');
      else if (kind === 'ply' || kind === 'undo' || kind === 'result' || kind === 'clock' || kind === 'table') this.later(table);
      if (kind === 'table') this.later('shape');
      if (kind === 'result') this.later('scores');
    });
    this.untick = onTick(() => this.#tick());
    this.refresh();
  }

  close() {
    this.unsubscribe();
    this.untick();
  }

  /** Settings changed. */
  refresh() {
    this.#build();
  }

  #build() {
    const size = pref('size', usualSize(this.store.tables.size));
    this.body.style.setProperty('--tile', SIZES[size] ?? SIZES.medium);
    Object.keys(SIZES).forEach((name, at) => this.sizeButtons[at].setAttribute('aria-pressed', String(name === size)));
    ['all', 'playing', 'ended'].forEach((name, at) => this.filterButtons[at].setAttribute('aria-pressed', String(name === pref('filter', 'all'))));
    this.#arrange();
    this.#update([...this.#tiles.keys()]);
    this.#filter();
  }

  /** Puts the tiles into their groups; elements are kept as long as the same tables stand in the same groups. */
  #arrange() {
    const tables = this.store.sorted();
    const teams = matches(tables);
    const inMatch = new Set(teams.flatMap((match) => match.tables));
    const groups = teams.map((match) => ({ ...match }));
    const rest = tables.filter((table) => !inMatch.has(table));
    if (rest.length) groups.push({ key: 'rest', tables: rest });
    const shape = JSON.stringify(groups.map((group) => [group.key, group.tables.map((table) => table.table)]));
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#groups.clear();
      const known = new Set(tables.map((table) => table.table));
      for (const number of this.#tiles.keys()) if (!known.has(number)) this.#tiles.delete(number);
      fill(this.body, groups.map((group) => this.#group(group)));
    }
    this.#scores(groups);
  }

  #group(group) {
    const grid = el('div', { class: 'grid' }, group.tables.map((table) => {
      let tile = this.#tiles.get(table.table);
      if (!tile) {
        tile = new Tile({ href: `#/table/${table.table}`, glide: this.store.tables.size <= GLIDE_UP_TO });
        this.#tiles.set(table.table, tile);
      }
      return tile.root;
    }));
    if (!group.teams) return el('section', {}, grid);
    const score = el('span', { class: 'score' });
    this.#groups.set(group.key, score);
    return el('section', { class: 'match' }, el('h2', {}, el('span', { text: group.teams[0] }), score, el('span', { text: group.teams[1] })), grid);
  }

  #scores(groups) {
    for (const group of groups) {
      const score = this.#groups.get(group.key);
      if (score) setText(score, pref('hideResults', false) ? '–' : group.score.join(' : '));
    }
  }

  #update(numbers) {
    if (numbers.includes('shape')) this.#arrange();
    for (const number of numbers) {
      const tile = this.#tiles.get(number);
      const table = this.store.tables.get(number);
      if (tile && table) { tile.now = this.store.now(); tile.update(table); }
    }
    if (numbers.includes('scores')) { this.#scores(matches(this.store.sorted())); this.#filter(); }
  }

  #tick() {
    const now = this.store.now();
    for (const [number, tile] of this.#tiles) {
      const table = this.store.tables.get(number);
      if (table?.clock?.running && !tile.root.hidden) tile.tick(table, now);
    }
  }

  #filter() {
    const filter = pref('filter', 'all');
    let seen = 0;
    for (const [number, tile] of this.#tiles) {
      const table = this.store.tables.get(number);
      const ended = Boolean(table) && over(table, 'public');
      const fine = table && fits(table, this.typed) && (filter === 'all' || (filter === 'ended') === ended);
      if (tile.root.hidden === fine) tile.root.hidden = !fine;
      if (fine) seen += 1;
    }
    for (const section of this.body.children) section.hidden = !section.querySelector('.tile:not([hidden])');
    setText(this.count, this.store.ready ? t('games', { n: seen }) : '');
    this.none.hidden = !this.store.ready || seen > 0;
    setText(this.none, t(this.store.tables.size ? 'search.none' : 'nothing-yet'));
  }
}
