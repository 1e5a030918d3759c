// The list of moves: numbered pairs, each move a button that shows its position, kept up to date ply
// by ply while the game goes on.

import { notation, plyNumber } from './chess.js';
import { clockText } from './clock.js';
import { el, fill, setAttr } from './dom.js';
import { t } from './i18n.js';
import { pref } from './prefs.js';

export class MoveList {
  #cells = [];
  #rows = new Map();
  #start = null;
  #game = null;
  #current = null;
  #seen = null;
  #height = 0;

  /** `choose(index)` is called with the ply a person chose. */
  constructor({ choose, times = true }) {
    this.choose = choose;
    this.times = times;
    this.root = el('ol', { class: 'moves', 'aria-label': t('moves') });
    this.root.addEventListener('click', (event) => {
      const cell = event.target.closest('button[data-ply]');
      if (cell) this.choose(Number(cell.dataset.ply));
    });
  }

  update(table, current) {
    if (this.#start !== table.start || this.#game !== table.game) {
      this.#start = table.start;
      this.#game = table.game;
      this.#cells = [];
      this.#rows.clear();
      fill(this.root);
    }
    for (let index = table.plies.length; index < this.#cells.length; index += 1) {
      const { cell, row } = this.#cells[index];
      cell.remove();
      if (row.querySelector('button') === null) { row.remove(); this.#rows.delete(Number(row.dataset.move)); }
    }
    this.#cells.length = Math.min(this.#cells.length, table.plies.length);
    const style = pref('notation', 'en');
    table.plies.forEach((ply, index) => {
      const known = this.#cells[index];
      if (known?.ply === ply && known.style === style) return;
      const cell = known?.cell ?? this.#cell(table, index);
      this.#cells[index] = { cell, row: cell.parentElement, ply, style };
      this.#write(cell, table, ply, index, style);
    });
    if (this.#current !== current) {
      this.#cells[this.#current]?.cell.removeAttribute('aria-current');
      this.#current = current;
    }
    const now = this.#cells[current]?.cell;
    if (now) setAttr(now, 'aria-current', 'true');
    // Kept in sight, also where the list was not laid out yet when the move came.
    const box = this.root;
    if (!now || !box.clientHeight || (this.#seen === now && this.#height === box.clientHeight)) return;
    this.#seen = now;
    this.#height = box.clientHeight;
    const top = now.offsetTop;
    if (top < box.scrollTop || top + now.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
  }

  #cell(table, index) {
    const { move, black } = plyNumber(table.start, index);
    let row = this.#rows.get(move);
    if (!row) {
      row = el('li', { 'data-move': move }, el('span', { class: 'n', text: `${move}.` }));
      if (black) row.append(el('span', { class: 'none', text: '…' }));
      this.#rows.set(move, row);
      this.root.append(row);
    }
    const cell = el('button', { type: 'button', 'data-ply': index });
    row.append(cell);
    return cell;
  }

  #write(cell, table, ply, index, style) {
    const side = plyNumber(table.start, index).black ? 'black' : 'white';
    const left = ply.clock?.[side];
    fill(cell, el('span', { class: 'san', text: notation(ply.san, style) + (ply.illegal && !ply.san.endsWith('?') ? '?' : '') }),
      this.times && left !== null && left !== undefined && el('time', { text: clockText(left) }));
    const notes = [];
    if (ply.state === 'provisional') notes.push(t('provisional'));
    if (ply.illegal) notes.push(t('illegal'));
    if (ply.corrected) notes.push(t('corrected'));
    if (ply.source && ply.source !== 'board') notes.push(t(`source.${ply.source}`));
    cell.className = [ply.state, ply.illegal && 'illegal', ply.corrected && 'corrected'].filter(Boolean).join(' ');
    setAttr(cell, 'title', notes.join(' · ') || null);
  }
}
