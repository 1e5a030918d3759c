// One table in a grid: board, players, clocks, last move. The desk adds the health of line and clock.

import { Board } from './board.js';
import { checkedKing, moveSquares, notation, plyNumber, stateOf } from './chess.js';
import { clockText, secondsLeft } from './clock.js';
import { el, fill, icon, setText } from './dom.js';
import { t } from './i18n.js';
import { playerLine, reasonText, resultText } from './people.js';
import { pref } from './prefs.js';
import { fenAt } from './store.js';

/** In a larger hall men jump: with a move somewhere all the time, gliding would keep the screen busy for nothing. */
export const GLIDE_UP_TO = 12;

/** Proposals that anyone in the hall has seen for himself: all others are the arbiter's to decide first. */
const SEEN_BY_ALL = new Set(['checkmate', 'stalemate', 'dead-position', 'resignation', 'draw-agreed', 'kings-signal', 'entered', 'forfeit', 'adjournment']);

/**
 * The result as an audience may know it. The desk knows all. Spectators learn of a flag, a claim or an
 * illegal move only when the arbiter has decided; the hall's wall shows what is final (Laws 12.6).
 */
export function resultFor(table, audience) {
  const { result } = table;
  if (!result || audience === 'desk' || result.state === 'final') return result;
  return audience === 'public' && SEEN_BY_ALL.has(result.reason) ? result : null;
}

/** Whether the game is over or its result is proposed: clocks stand then. */
export function over(table, audience = 'desk') {
  return Boolean(resultFor(table, audience));
}

/** The last move as text, with its number unless `counts` is off (a hall display may show none). */
export function lastMoveText(table, { counts = true } = {}) {
  const index = table.plies.length - 1;
  if (index < 0) return t(`status.${table.status}`);
  const ply = table.plies[index];
  const san = notation(ply.san, pref('notation', 'en'));
  if (!counts) return san;
  const { move, black } = plyNumber(table.start, index);
  return `${move}${black ? '…' : '.'} ${san}`;
}

/** The size of boards that nobody has chosen: a few on a wide screen may be large. */
export function usualSize(count) {
  return count <= 12 && innerWidth >= 1600 ? 'large' : 'medium';
}

export class Tile {
  #sides = {};
  #shown = {};

  constructor({ desk = false, wall = false, href, glide = false }) {
    this.desk = desk;
    this.wall = wall;
    this.audience = desk ? 'desk' : wall ? 'wall' : 'public';
    this.board = new Board({ glide });
    // The link is read out by its words; sixty-four squares of each board would drown them.
    this.board.root.removeAttribute('role');
    this.board.root.setAttribute('aria-hidden', 'true');
    this.root = el(wall ? 'div' : 'a', { class: 'tile', ...(wall ? {} : { href }) });
    for (const side of ['black', 'white']) {
      const clock = el('span', { class: 'clock' });
      const who = el('span', { class: 'who' });
      this.#sides[side] = { clock, who, row: el('div', { class: `side ${side}` }, who, clock) };
    }
    this.number = el('span', { class: 'number' });
    this.last = el('span', { class: 'last' });
    this.state = el('span', { class: 'state' });
    this.root.append(this.#sides.black.row, this.board.root, this.#sides.white.row,
      el('div', { class: 'foot' }, this.number, this.last, this.state));
  }

  /** Shows the table as it is; touches only what changed. */
  update(table) {
    this.table = table;
    if (this.#shown.players !== table.players) {
      this.#shown.players = table.players;
      for (const side of ['black', 'white']) fill(this.#sides[side].who, playerLine(table.players?.[side]));
    }
    setText(this.number, String(table.table));
    const fen = fenAt(table);
    this.board.show(fen);
    const ply = table.plies.at(-1);
    if (this.#shown.fen !== fen || this.#shown.ply !== ply) {
      this.#shown.fen = fen;
      this.#shown.ply = ply;
      const last = ply ? moveSquares(ply.uci) : [];
      const check = ply && /[+#]/.test(ply.san) ? [checkedKing(stateOf(fen))] : [];
      this.board.mark({ last, check });
    }
    this.root.classList.toggle('provisional', ply?.state === 'provisional' && !this.wall);
    this.root.classList.toggle('over', over(table, this.audience));
    this.root.classList.toggle('offline', !this.wall && table.link?.online === false && table.status !== 'waiting');
    const hidden = pref('hideResults', false) && !this.desk;
    const result = hidden ? null : resultFor(table, this.audience);
    setText(this.last, result ? reasonText(result.reason) || lastMoveText(table, { counts: !this.wall }) : lastMoveText(table, { counts: !this.wall }));
    this.#state(table, result);
    this.tick(table, this.now ?? table.clock?.at ?? 0);
  }

  #state(table, result) {
    let key;
    if (result) key = `result ${result.value} ${result.state}`;
    else if (!this.wall && table.link?.online === false && table.status === 'playing') key = 'offline';
    else key = this.desk ? `health ${table.link?.online} ${table.link?.clock}` : '';
    if (this.#shown.state === key) return;
    this.#shown.state = key;
    if (result) {
      const proposed = result.state === 'proposed';
      fill(this.state, el('span', { class: proposed ? 'result proposed' : 'result', text: resultText(result.value), title: proposed ? t('proposed') : null }));
    } else if (key === 'offline') {
      fill(this.state, el('span', { class: 'warn', title: t('offline') }, icon('broken'), el('span', { class: 'sr', text: t('offline') })));
    } else if (this.desk) {
      const bad = [];
      if (table.link?.online === false) bad.push(el('span', { class: 'warn', title: t('offline') }, icon('broken')));
      if (table.link?.clock === false) bad.push(el('span', { class: 'warn', title: t('no-clock') }, icon('clock')));
      fill(this.state, bad);
    } else fill(this.state);
  }

  /** The clocks, at this moment of the stream. */
  tick(table, now) {
    this.now = now;
    const stopped = over(table, this.audience);
    for (const side of ['black', 'white']) {
      const left = secondsLeft(table.clock, side, now, stopped);
      const { clock } = this.#sides[side];
      setText(clock, left === null && this.#shown.clock !== true ? '' : clockText(left));
      if (left !== null) this.#shown.clock = true;
      const running = !stopped && table.clock?.running === side;
      const kind = `clock${running ? ' running' : ''}${left !== null && left < 60 ? ' low' : ''}${left !== null && left <= 0 ? ' zero' : ''}`;
      if (clock.className !== kind) clock.className = kind;
    }
  }
}
