// The screen in the hall: every board as large as fits, players and clocks, and nothing that players
// may not be told (Laws 12.6): no move numbers, no counts, no marks of doubt, no corrections.

import { onTick } from '../shared/clock.js';
import { el, fill } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { batch } from '../shared/store.js';
import { GLIDE_UP_TO, Tile } from '../shared/tile.js';

/** Below this many pixels a board cannot be read across a hall: it goes onto the next page. */
const SMALLEST = 120;
const PAGE_SECONDS = 15;

/** The largest board in a tile of this height: two players and the foot take five lines, whose type grows with the board. */
function boardIn(height) {
  const room = height - 34;
  const board = room / (1 + 5 / 15);
  return Math.min(room - 5 * 12, Math.max(board, room - 5 * 24));
}

export class WallView {
  #tiles = new Map();
  #order = '';
  #page = 0;

  constructor(store) {
    this.store = store;
    this.grid = el('div', { class: 'grid' });
    this.empty = el('p', { class: 'empty', text: t('nothing-yet'), hidden: true });
    this.root = el('div', { class: 'wall-view' }, this.grid, this.empty);
    this.later = batch((keys) => (keys.includes('all') ? this.#build() : this.#update(keys)));
    this.unsubscribe = store.subscribe((kind, table) => {
      if (kind === 'snapshot' || kind === 'tables') this.later('all');
      else if (kind === 'ply' || kind === 'undo' || kind === 'result' || kind === 'clock' || kind === 'table') this.later(table);
    });
    this.untick = onTick(() => this.#tick());
    this.turn = setInterval(() => { this.#page += 1; this.#layout(); }, PAGE_SECONDS * 1000);
    this.resize = new ResizeObserver(() => this.#layout());
    this.resize.observe(document.documentElement);
    this.#build();
  }

  close() {
    this.unsubscribe();
    this.untick();
    clearInterval(this.turn);
    this.resize.disconnect();
  }

  opened() {
    this.#layout();
  }

  #build() {
    const tables = this.store.sorted();
    const order = tables.map((table) => table.table).join();
    if (order !== this.#order) {
      this.#order = order;
      this.#tiles.clear();
      fill(this.grid, tables.map((table) => {
        const tile = new Tile({ wall: true, glide: tables.length <= GLIDE_UP_TO });
        this.#tiles.set(table.table, tile);
        return tile.root;
      }));
      this.#layout();
    }
    this.empty.hidden = !this.store.ready || tables.length > 0;
    this.#update(tables.map((table) => table.table));
  }

  #update(numbers) {
    for (const number of numbers) {
      const table = this.store.tables.get(number);
      const tile = this.#tiles.get(number);
      if (table && tile) { tile.now = this.store.now(); tile.update(table); }
    }
  }

  #tick() {
    const now = this.store.now();
    for (const [number, tile] of this.#tiles) {
      const table = this.store.tables.get(number);
      if (table?.clock?.running && !tile.root.hidden) tile.tick(table, now);
    }
  }

  /** Chooses the number of columns that makes the boards largest, and the page if not all fit. */
  #layout() {
    const all = [...this.#tiles.values()];
    if (!all.length) return;
    const width = innerWidth - 24;
    const height = innerHeight - this.root.getBoundingClientRect().top - scrollY - 16;
    const gap = 10;
    const best = (count) => {
      let found = { columns: 1, board: 0 };
      for (let columns = 1; columns <= count; columns += 1) {
        const rows = Math.ceil(count / columns);
        const board = Math.min((width - gap * (columns - 1)) / columns - 14, boardIn((height - gap * (rows - 1)) / rows));
        if (board > found.board) found = { columns, board };
      }
      return found;
    };
    let size = all.length;
    let layout = best(size);
    while (layout.board < SMALLEST && size > 1) {
      size = Math.ceil(size / 2);
      layout = best(size);
    }
    const pages = Math.ceil(all.length / size);
    const page = this.#page % pages;
    all.forEach((tile, at) => { tile.root.hidden = Math.floor(at / size) !== page; });
    this.grid.style.setProperty('--columns', layout.columns);
    this.grid.style.setProperty('--board', `${Math.floor(layout.board / 8) * 8}px`);
  }
}
