// Choosing a move: on a board (pointer or arrow keys) or typed, in English or Russian notation.

import { Board } from '../shared/board.js';
import { fenOf, legalMoves, notation, readMove, sanOf, square, stateOf } from '../shared/chess.js';
import { el, fill, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { pref } from '../shared/prefs.js';

export class MovePicker {
  #from = null;
  uci = null;

  /** `changed()` is called when another move (or none) is chosen. `anyMove`: also what is not legal. */
  constructor(fen, { changed = () => {}, anyMove = false, label = t('move') } = {}) {
    this.state = stateOf(fen);
    this.legal = legalMoves(this.state);
    this.anyMove = anyMove;
    this.changed = changed;
    this.board = new Board({ coords: true, label: t('choose-on-board') });
    this.board.show(fenOf(this.state));
    this.board.interactive((name) => this.#pick(name));
    this.board.flip(this.state.turn === 'b');
    this.input = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', placeholder: t('move.example'), on: { input: () => this.#typed() } });
    this.note = el('p', { class: 'soft', role: 'status' });
    this.promotion = el('div', { class: 'segments', role: 'group', hidden: true });
    this.root = el('div', { class: 'picker' }, this.board.root,
      el('div', { class: 'picker-side' }, el('label', { class: 'field' }, el('span', { text: label }), this.input), this.promotion, this.note));
    this.#say();
  }

  #pick(name) {
    if (this.#from === null || this.#from === name) {
      const piece = this.state.board[square(name)];
      const mine = piece && (piece < 'a') === (this.state.turn === 'w');
      this.#from = this.#from === name || !(mine || (this.anyMove && piece)) ? null : name;
      this.#mark();
      return;
    }
    const move = this.#from + name;
    this.#from = null;
    const promotions = this.legal.filter((uci) => uci.startsWith(move) && uci.length === 5);
    if (promotions.length) {
      this.promotion.hidden = false;
      fill(this.promotion, promotions.map((uci) => el('button', { type: 'button', text: notation(uci[4].toUpperCase(), pref('notation', 'en')), on: { click: () => { this.promotion.hidden = true; this.#set(uci); } } })));
      this.promotion.querySelector('button').focus();
      return;
    }
    // Another own man: the choice of what to move changed.
    if (!this.legal.includes(move) && !this.anyMove && this.state.board[square(name)]) { this.#pick(name); return; }
    this.#set(this.legal.includes(move) || this.anyMove ? move : null);
  }

  #set(uci) {
    this.uci = uci;
    if (uci) this.input.value = this.legal.includes(uci) ? notation(sanOf(this.state, uci, this.legal), pref('notation', 'en')) : uci;
    this.#mark();
    this.#say();
    this.changed();
  }

  #typed() {
    this.uci = readMove(this.state, this.input.value) ?? (this.anyMove && /^[a-h][1-8][a-h][1-8][qrbn]?$/.test(this.input.value.trim()) ? this.input.value.trim() : null);
    this.#mark();
    this.#say();
    this.changed();
  }

  #mark() {
    const chosen = this.uci ? [square(this.uci.slice(0, 2)), square(this.uci.slice(2, 4))] : [];
    const targets = this.#from ? this.legal.filter((uci) => uci.startsWith(this.#from)).map((uci) => square(uci.slice(2, 4))) : [];
    this.board.mark({ chosen: this.#from ? [square(this.#from)] : chosen, target: [...new Set(targets)] });
  }

  #say() {
    const typed = this.input.value.trim();
    if (this.uci && !this.legal.includes(this.uci)) setText(this.note, t('move.not-legal'));
    else if (this.uci) setText(this.note, t('move.chosen', { from: this.uci.slice(0, 2), to: this.uci.slice(2, 4) }));
    else setText(this.note, typed ? t('move.not-found') : t(this.state.turn === 'w' ? 'white-to-move' : 'black-to-move'));
  }
}

