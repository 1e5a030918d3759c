// One game: a large board, players and clocks, the moves to step back through while the game goes on.

import { Board } from '../shared/board.js';
import { checkedKing, moveSquares, notation, plyNumber, stateOf } from '../shared/chess.js';
import { clockText, onTick, secondsLeft } from '../shared/clock.js';
import { el, fill, icon, iconButton, setAttr, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { MoveList } from '../shared/moves.js';
import { playerLine, playerText, reasonText, resultText } from '../shared/people.js';
import { pref } from '../shared/prefs.js';
import { batch, fenAt } from '../shared/store.js';
import { over, resultFor } from '../shared/tile.js';

/** How long a correction stays on view, in milliseconds. */
const CORRECTION = 12_000;

export class GameView {
  #sides = {};
  #at = null;
  #seen = 0;
  #players = null;

  constructor(store, number, { embed = false }) {
    this.store = store;
    this.number = number;
    this.embed = embed;
    this.board = new Board({ coords: true, glide: true });
    this.moves = new MoveList({ choose: (index) => this.#goto(index) });
    for (const side of ['white', 'black']) {
      const clock = el('span', { class: 'clock' });
      const who = el('div', { class: 'who' });
      this.#sides[side] = { clock, who, row: el('div', { class: `side ${side}` }, who, clock) };
    }
    this.heading = el('h2');
    this.result = el('p', { class: 'outcome', hidden: true });
    this.notice = el('p', { class: 'notice', role: 'status' });
    this.describe = el('p', { class: 'sr', 'aria-live': 'polite' });
    this.live = el('button', { type: 'button', class: 'button primary', hidden: true, on: { click: () => this.#goto(null) } });
    const step = (name, title, move) => iconButton(name, title, move);
    this.buttons = {
      first: step('first', t('first'), () => this.#goto(-1)),
      prev: step('prev', t('previous'), () => this.#step(-1)),
      next: step('next', t('next'), () => this.#step(1)),
      last: step('last', t('latest'), () => this.#goto(null)),
    };
    this.flipButton = iconButton('flip', t('flip'), () => this.#flip());
    this.pgn = el('a', { class: 'button', download: true }, icon('download'), el('span', { text: 'PGN' }), el('span', { class: 'sr', text: t('download-pgn') }));
    const embedButton = iconButton('embed', t('embed'), () => this.#embedDialog(), { label: true });
    this.stage = el('div', { class: 'stage' }, this.#sides.black.row, this.board.root, this.#sides.white.row);
    this.root = el('div', { class: 'game-view' },
      this.stage,
      el('section', { class: 'panel', 'aria-label': t('moves') },
        el('div', { class: 'panel-head' }, !embed && el('a', { class: 'button', href: '#/' }, icon('back'), el('span', { text: t('back') })), this.heading),
        this.result, this.notice, this.moves.root, this.live,
        el('div', { class: 'steps' }, Object.values(this.buttons), this.flipButton),
        el('div', { class: 'links' }, this.pgn, !embed && embedButton),
        this.describe));
    this.missing = el('p', { class: 'empty', hidden: true, text: t('gone', { n: number }) });
    this.root.append(this.missing);
    this.later = batch(() => this.refresh());
    this.unsubscribe = store.subscribe((kind, table) => {
      if (kind === 'snapshot' || table === number) {
        if (kind === 'clock') this.tick();
        this.later('game');
      }
    });
    this.untick = onTick(() => this.tick());
    this.keys = (event) => this.#key(event);
    document.addEventListener('keydown', this.keys);
    this.refresh();
  }

  /** On the page now: what needs a layout can be done. */
  opened() {
    this.refresh();
  }

  get table() {
    return this.store.tables.get(this.number);
  }

  close() {
    this.unsubscribe();
    this.untick();
    document.removeEventListener('keydown', this.keys);
    clearTimeout(this.fade);
  }

  #goto(index) {
    const count = this.table?.plies.length ?? 0;
    this.#at = index === null || index >= count - 1 ? null : Math.max(-1, index);
    this.#seen = count;
    this.refresh();
    this.#say();
  }

  #step(by) {
    const count = this.table?.plies.length ?? 0;
    this.#goto((this.#at ?? count - 1) + by);
  }

  #flip() {
    const flipped = !this.board.flipped;
    this.board.flip(flipped);
    this.flipButton.setAttribute('aria-pressed', String(flipped));
    this.stage.classList.toggle('turned', flipped);
  }

  #key(event) {
    if (event.target.closest?.('input, textarea, select, dialog') || event.altKey || event.ctrlKey || event.metaKey) return;
    const act = { ArrowLeft: () => this.#step(-1), ArrowRight: () => this.#step(1), Home: () => this.#goto(-1), End: () => this.#goto(null), f: () => this.#flip() }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  refresh() {
    const { table } = this;
    this.missing.hidden = !this.store.ready || Boolean(table);
    this.root.classList.toggle('absent', !table);
    if (!table) return;
    const count = table.plies.length;
    if (this.#at !== null && this.#at >= count) this.#at = null;
    const index = this.#at ?? count - 1;
    const fen = fenAt(table, index);
    const ply = table.plies[index];
    this.board.show(fen);
    this.board.mark({ last: ply ? moveSquares(ply.uci) : [], check: ply && /[+#]/.test(ply.san) ? [checkedKing(stateOf(fen))] : [] });
    this.stage.classList.toggle('provisional', ply?.state === 'provisional');
    this.board.label = index < 0 ? t('start-position') : t('after-move', { move: this.#moveText(table, index) });
    this.moves.update(table, index);
    if (this.#players !== table.players) {
      this.#players = table.players;
      for (const side of ['white', 'black']) fill(this.#sides[side].who, playerLine(table.players[side], { rating: true }));
      setText(this.heading, t('table', { n: table.table }));
      if (!this.embed) document.title = `${playerText(table.players.white)} – ${playerText(table.players.black)}`;
    }
    const round = table.round || 'current';
    setAttr(this.pgn, 'href', `/round/${round}/game-${table.table}.pgn`);
    this.#outcome(table);
    this.#correction(table);
    if (this.#at === null) this.#seen = count;
    const fresh = count - this.#seen;
    this.live.hidden = this.#at === null;
    setText(this.live, fresh > 0 ? t('new-moves', { n: fresh }) : t('latest'));
    this.buttons.first.disabled = this.buttons.prev.disabled = index < 0;
    this.buttons.next.disabled = this.buttons.last.disabled = this.#at === null;
    this.tick();
  }

  #moveText(table, index) {
    const { move, black } = plyNumber(table.start, index);
    return `${move}${black ? '…' : '.'} ${notation(table.plies[index].san, pref('notation', 'en'))}`;
  }

  #outcome(table) {
    const result = resultFor(table, 'public');
    this.result.hidden = !result || pref('hideResults', false);
    if (this.result.hidden) return;
    fill(this.result, el('strong', { class: result.state === 'proposed' ? 'result proposed' : 'result', text: resultText(result.value) }),
      el('span', { text: [reasonText(result.reason), result.state === 'proposed' && t('proposed')].filter(Boolean).join(' · ') }));
  }

  #correction(table) {
    if (table.correctedAt === null || table.correctedAt === undefined || table.correctedAt === this.told) return;
    this.told = table.correctedAt;
    setText(this.notice, t('corrected-at', { n: plyNumber(table.start, table.correctedAt).move }));
    clearTimeout(this.fade);
    this.fade = setTimeout(() => { setText(this.notice, ''); this.told = null; table.correctedAt = null; }, CORRECTION);
  }

  #say() {
    const { table } = this;
    if (!table) return;
    const index = this.#at ?? table.plies.length - 1;
    setText(this.describe, index < 0 ? t('start-position') : this.#moveText(table, index));
  }

  tick() {
    const { table } = this;
    if (!table) return;
    const now = this.store.now();
    const stopped = over(table, 'public');
    for (const side of ['white', 'black']) {
      const { clock } = this.#sides[side];
      const past = this.#at === null ? null : this.#clockThen(table, side);
      const left = past ?? secondsLeft(table.clock, side, now, stopped);
      setText(clock, clockText(left));
      const running = this.#at === null && !stopped && table.clock?.running === side;
      const kind = `clock${running ? ' running' : ''}${left !== null && left < 60 ? ' low' : ''}`;
      if (clock.className !== kind) clock.className = kind;
    }
  }

  #clockThen(table, side) {
    for (let index = this.#at; index >= 0; index -= 1) {
      const left = table.plies[index]?.clock?.[side];
      if (left !== null && left !== undefined) return left;
    }
    return null;
  }

  #embedDialog() {
    const code = `<iframe src="${location.origin}/embed?table=${this.number}" width="480" height="640" loading="lazy"></iframe>`;
    const text = el('input', { type: 'text', readonly: true, value: code, 'aria-label': t('embed.hint') });
    const copy = el('button', { type: 'button', class: 'button primary', text: t('copy'), on: { click: async () => {
      text.select();
      try { await navigator.clipboard.writeText(code); } catch { document.execCommand('copy'); }
      setText(copy, t('copied'));
    } } });
    const dialog = el('dialog', { 'aria-label': t('embed') }, el('form', { method: 'dialog' },
      el('header', {}, el('h2', { text: t('embed') }), iconButton('close', t('close'), () => dialog.close())),
      el('label', { class: 'field' }, el('span', { text: t('embed.hint') }), text),
      el('div', { class: 'actions' }, copy)));
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    text.select();
  }
}
