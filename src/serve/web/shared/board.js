// A chess board on the page: squares painted by the style, men as elements that glide from square to
// square. Changes only what changed, so that a whole hall of boards costs little.

import { boardOf, square, squareName } from './chess.js';
import { el, setAttr } from './dom.js';

export class Board {
  #men = new Array(64).fill(null);
  #placement = null;
  #marks = new Map();
  #layer;
  #pick = null;
  #chosen = null;
  flipped = false;

  /** `coords` writes a to h and 1 to 8; `glide` lets men glide. */
  constructor({ coords = false, glide = false, label = '' } = {}) {
    this.#layer = el('div', { class: 'men' });
    this.root = el('div', { class: 'board', role: 'img', 'aria-label': label || null }, this.#layer);
    if (glide) this.root.classList.add('glide');
    if (coords) {
      this.files = el('div', { class: 'files', 'aria-hidden': 'true' }, [...'abcdefgh'].map((text) => el('span', { text })));
      this.ranks = el('div', { class: 'ranks', 'aria-hidden': 'true' }, [...'87654321'].map((text) => el('span', { text })));
      this.root.append(this.files, this.ranks);
    }
  }

  set label(text) {
    setAttr(this.root, 'aria-label', text);
  }

  /** Shows a position (a FEN or its first field). */
  show(fen) {
    const placement = String(fen ?? '').split(' ')[0];
    if (placement === this.#placement) return;
    this.#placement = placement;
    const wanted = boardOf(placement);
    const gone = [];
    const come = [];
    for (let at = 0; at < 64; at += 1) {
      const man = this.#men[at];
      if ((man?.letter ?? '') === wanted[at]) continue;
      if (man) { gone.push(man); this.#men[at] = null; }
      if (wanted[at]) come.push(at);
    }
    for (const at of come) {
      const letter = wanted[at];
      const same = gone.findIndex((man) => man.letter === letter);
      let man;
      if (same >= 0) [man] = gone.splice(same, 1);
      else {
        const node = document.createElement('i');
        node.className = letter < 'a' ? `w${letter}` : `b${letter.toUpperCase()}`;
        man = { node, letter };
        this.#layer.append(node);
      }
      this.#men[at] = man;
      this.#place(man.node, at);
    }
    for (const man of gone) man.node.remove();
  }

  /** Marks squares: `{last: [12, 28], check: [4], differ: […], …}`; each kind is a class. */
  mark(kinds) {
    const wanted = new Map();
    for (const [kind, squares] of Object.entries(kinds)) {
      for (const at of squares ?? []) if (at >= 0) wanted.set(`${kind} ${at}`, [kind, at]);
    }
    for (const [key, node] of this.#marks) if (!wanted.has(key)) { node.remove(); this.#marks.delete(key); }
    for (const [key, [kind, at]] of wanted) {
      if (this.#marks.has(key)) continue;
      const node = document.createElement('b');
      node.className = kind;
      this.#place(node, at);
      this.#marks.set(key, node);
      this.root.insertBefore(node, this.#layer);
    }
  }

  /** Turns it round. */
  flip(flipped) {
    if (this.flipped === flipped) return;
    this.flipped = flipped;
    this.root.classList.toggle('flipped', flipped);
    this.#men.forEach((man, at) => man && this.#place(man.node, at));
    for (const [key, node] of this.#marks) this.#place(node, Number(key.split(' ')[1]));
    this.files?.append(...[...this.files.children].reverse());
    this.ranks?.append(...[...this.ranks.children].reverse());
  }

  #place(node, at) {
    const seen = this.flipped ? 63 - at : at;
    node.style.transform = `translate(${(seen % 8) * 100}%,${(seen >> 3) * 100}%)`;
  }

  /**
   * Lets a person choose squares, by pointer or by arrow keys and Enter. `pick(name)` is called with
   * each chosen square.
   */
  interactive(pick) {
    this.#pick = pick;
    this.root.setAttribute('role', 'application');
    this.root.tabIndex = 0;
    let cursor = square('e2');
    const aim = (at) => { cursor = at; this.aim(at); };
    this.root.addEventListener('pointerdown', (event) => {
      const box = this.root.getBoundingClientRect();
      const file = Math.floor(((event.clientX - box.left) / box.width) * 8);
      const row = Math.floor(((event.clientY - box.top) / box.height) * 8);
      if (file < 0 || file > 7 || row < 0 || row > 7) return;
      const seen = row * 8 + file;
      cursor = this.flipped ? 63 - seen : seen;
      this.#pick(squareName(cursor));
    });
    this.root.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8 }[event.key];
      if (step) {
        const next = cursor + (this.flipped ? -step : step);
        if (next >= 0 && next < 64 && (Math.abs(step) === 8 || next >> 3 === cursor >> 3)) aim(next);
      } else if (event.key === 'Enter' || event.key === ' ') this.#pick(squareName(cursor));
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.root.addEventListener('focus', () => { if (this.root.matches(':focus-visible')) aim(cursor); });
    this.root.addEventListener('blur', () => this.aim(null));
  }

  /** Shows where the keyboard points. */
  aim(at) {
    this.#chosen?.remove();
    this.#chosen = null;
    if (at === null) return;
    this.#chosen = el('b', { class: 'aim' });
    this.#place(this.#chosen, at);
    this.root.append(this.#chosen);
    this.root.setAttribute('aria-description', squareName(at));
  }
}

/** A small still diagram. */
export function diagram(fen, { marks = {}, label = '', flipped = false } = {}) {
  const board = new Board({ label });
  board.flip(flipped);
  board.show(fen);
  board.mark(marks);
  board.root.classList.add('small');
  return board.root;
}
