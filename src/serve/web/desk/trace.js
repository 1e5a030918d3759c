// The trace of a table: who touched what, when, and for how long; to play back and step through, and
// to keep as an image for the report.

import { Board } from '../shared/board.js';
import { boardOf, fenOf, square } from '../shared/chess.js';
import { onTick } from '../shared/clock.js';
import { el, fill, icon, iconButton, saveFile, setAttr, setText } from '../shared/dom.js';
import { lang, ownText, t } from '../shared/i18n.js';
import { playerText } from '../shared/people.js';
import { trace } from './api.js';
import { attempt } from './dialogs.js';
import { toPng, toSvg } from './scene.js';
import { PALETTES, readTouches, tenths, timeline } from './timeline.js';

const SPANS = [10, 30, 60, 300];
/** After so long (ms) without a touch and without a running clock the trace opens at the last one. */
const QUIET = 60_000;
/** Touches are kept so long (ms). */
const KEPT = 600_000;

export class TraceView {
  #touches = [];
  #span = 30;
  #cursor = null;
  #end = null;
  #playing = null;
  #keys;

  constructor(context, number) {
    this.context = context;
    this.number = number;
    const query = new URLSearchParams(location.hash.split('?')[1] ?? '');
    this.alertId = query.has('alert') ? Number(query.get('alert')) : null;
    const at = Number(query.get('at'));
    if (at) { this.#end = at + 4000; this.#cursor = at; }
    this.board = new Board({ coords: true });
    this.drawing = el('div', { class: 'drawing' });
    this.heading = el('h1');
    this.about = el('p', { class: 'soft' });
    this.alertText = el('p', { class: 'alert-line', hidden: true });
    this.when = el('p', { class: 'when' });
    this.list = el('ol', { class: 'touches' });
    this.spans = SPANS.map((seconds) => el('button', { type: 'button', 'data-span': seconds, text: seconds < 60 ? `${seconds} ${t('s')}` : `${seconds / 60} ${t('min')}`, on: { click: () => { this.#span = seconds; this.draw(); } } }));
    this.playButton = iconButton('play', t('trace.play'), () => this.#play());
    this.liveButton = el('button', { type: 'button', class: 'button', text: t('trace.live'), on: { click: () => { this.#end = null; this.#cursor = null; this.#stop(); this.draw(); } } });
    this.speed = el('select', { 'aria-label': t('trace.speed') }, [0.25, 0.5, 1, 2].map((value) => el('option', { value, text: `× ${value}` })));
    this.speed.value = '1';
    this.root = el('div', { class: 'trace-view' },
      el('div', { class: 'table-head' }, this.heading, this.about, el('div', { class: 'buttons' },
        el('a', { class: 'button', href: `#/table/${number}` }, icon('back'), el('span', { text: t('table', { n: number }) })),
        iconButton('download', t('trace.image'), () => this.#export(), { label: true }))),
      this.alertText,
      el('div', { class: 'trace-tools' },
        el('div', { class: 'segments', role: 'group', 'aria-label': t('trace.span') }, this.spans),
        el('div', { class: 'steps' }, iconButton('prev', t('trace.before'), () => this.#step(-1)), this.playButton, iconButton('next', t('trace.after'), () => this.#step(1))),
        this.speed, this.liveButton),
      this.drawing,
      el('div', { class: 'trace-body' }, el('div', { class: 'stage' }, this.board.root, this.when),
        el('section', { class: 'box', 'aria-label': t('trace.touches') }, el('h2', { text: t('trace.touches') }), el('p', { class: 'soft', text: t('trace.hint') }), this.list)));
    this.drawing.addEventListener('click', (event) => {
      const box = this.drawing.querySelector('svg')?.getBoundingClientRect();
      if (box && this.scene) this.#set(this.scene.time(((event.clientX - box.left) / box.width) * this.scene.width));
    });
    this.unsubscribe = context.store.subscribe((kind, table, message) => {
      if (kind === 'snapshot') this.#load();
      if (table === number && kind === 'sensed' && message.change) { this.#touches.push({ at: message.at, ...message.change }); this.changed = true; }
      if (table === number && kind === 'clock') this.changed = true;
    });
    this.untick = onTick(() => { if (this.#end === null || this.changed) { this.changed = false; this.draw(); } });
    this.#keys = (event) => this.#key(event);
    document.addEventListener('keydown', this.#keys);
    this.resize = new ResizeObserver(() => this.draw());
    this.resize.observe(this.drawing);
    this.#load();
  }

  close() {
    this.unsubscribe();
    this.untick();
    this.#stop();
    this.resize.disconnect();
    document.removeEventListener('keydown', this.#keys);
  }

  refresh() {
    this.draw();
  }

  get table() {
    return this.context.store.tables.get(this.number);
  }

  async #load() {
    if (!this.table) { this.draw(); return; }
    const end = this.#end ?? this.context.store.now();
    const answer = await attempt(() => trace(this.number, Math.min(end, this.context.store.now()) - KEPT, this.context.store.now() + 5000));
    const told = new Map();
    for (const touch of [...(answer?.touches ?? []), ...(this.table?.touches ?? []), ...this.#evidence()]) told.set(`${touch.at} ${touch.square} ${touch.from} ${touch.to}`, touch);
    this.#touches = [...told.values()].sort((a, b) => a.at - b.at);
    this.marks = answer?.clocks ?? [];
    // Where nobody has touched anything for a while, the last touches are of interest.
    const last = this.#touches.at(-1)?.at;
    if (this.#end === null && last && this.context.store.now() - last > QUIET && this.table.clock?.running !== 'white' && this.table.clock?.running !== 'black') this.#end = last + 3000;
    this.draw();
  }

  /** Older than what is kept: the alert still carries the touches that prove it. */
  #evidence() {
    const alert = this.alert;
    return (alert?.evidence ?? []).map((touch) => ({ at: typeof touch.at === 'number' ? touch.at : Date.parse(touch.at), square: touch.square, from: touch.from, to: touch.to }));
  }

  get alert() {
    return this.alertId === null ? null : this.table?.alerts.get(this.alertId) ?? null;
  }

  /** What the squares showed at a moment: today's, with later touches taken back. */
  #boardAt(moment) {
    const board = boardOf(this.table.sensed || this.table.fen);
    for (let index = this.#touches.length - 1; index >= 0 && this.#touches[index].at > moment; index -= 1) {
      const touch = this.#touches[index];
      board[square(touch.square)] = touch.from ?? '';
    }
    return board;
  }

  #set(moment) {
    this.#cursor = moment;
    this.#end ??= this.context.store.now();
    this.draw();
  }

  #step(by) {
    const now = this.#cursor ?? this.context.store.now();
    const next = by < 0 ? [...this.#touches].reverse().find((touch) => touch.at < now - 1) : this.#touches.find((touch) => touch.at > now + 1);
    if (!next) return;
    const from = this.#from();
    this.#set(next.at);
    if (next.at < from) this.#end = next.at + this.#span * 500;
    if (next.at > this.#until()) this.#end = next.at + this.#span * 500;
    this.draw();
  }

  #until() {
    return this.#end ?? this.context.store.now() + 500;
  }

  #from() {
    return this.#until() - this.#span * 1000;
  }

  #play() {
    if (this.#playing) { this.#stop(); return; }
    if (this.#cursor === null || this.#cursor >= this.#until() - 50) this.#cursor = this.#from();
    this.#end ??= this.#until();
    let last = performance.now();
    const frame = (now) => {
      this.#cursor += (now - last) * Number(this.speed.value);
      last = now;
      if (this.#cursor >= this.#end) { this.#cursor = this.#end; this.#stop(); } else this.#playing = requestAnimationFrame(frame);
      this.draw();
    };
    this.#playing = requestAnimationFrame(frame);
    this.#face();
  }

  #stop() {
    if (this.#playing) cancelAnimationFrame(this.#playing);
    this.#playing = null;
    this.#face();
  }

  #face() {
    const playing = Boolean(this.#playing);
    fill(this.playButton, icon(playing ? 'pause' : 'play'));
    const name = t(playing ? 'trace.pause' : 'trace.play');
    this.playButton.title = name;
    setAttr(this.playButton, 'aria-label', name);
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.('input, textarea, select, dialog, button')) return;
    const act = { ArrowLeft: () => this.#step(-1), ArrowRight: () => this.#step(1), ' ': () => this.#play() }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Whose clock ran since when: as told by the daemon, and what came since. */
  #turns() {
    const told = this.marks ?? [];
    const last = told.at(-1)?.at ?? -Infinity;
    return [...told, ...this.table.presses.filter((press) => press.at > last)];
  }

  #drawing(palette, width, cursor) {
    const comma = lang === 'ru';
    const { table } = this;
    return timeline({
      touches: readTouches(this.#touches), marks: this.#turns(), from: this.#from(), to: this.#until(), cursor, width, colours: PALETTES[palette], comma,
      title: `${t('table', { n: this.number })}: ${playerText(table.players.white)} – ${playerText(table.players.black)}`,
      words: { s: t('s'), none: t('trace.none'), clock: t('trace.clock'), white: t('white'), black: t('black'), band: t('trace.band'), unsure: t('trace.unsure'), press: t('trace.press'), label: t('trace') },
    });
  }

  draw() {
    const { table } = this;
    setText(this.heading, t('trace'));
    if (!table) { setText(this.about, this.context.store.ready ? t('gone', { n: this.number }) : ''); return; }
    setText(this.about, `${playerText(table.players.white)} – ${playerText(table.players.black)}`);
    this.alertText.hidden = !this.alert;
    if (this.alert) setText(this.alertText, ownText(this.alert.text));
    const width = Math.max(320, Math.floor(this.drawing.clientWidth));
    const dark = getComputedStyle(document.documentElement).colorScheme === 'dark'
      || (!document.documentElement.dataset.theme && matchMedia('(prefers-color-scheme: dark)').matches);
    this.scene = this.#drawing(dark ? 'dark' : 'light', width, this.#cursor);
    fill(this.drawing, toSvg(this.scene));
    for (const button of this.spans) button.setAttribute('aria-pressed', String(Number(button.dataset.span) === this.#span));
    this.liveButton.disabled = this.#end === null;
    const moment = this.#cursor ?? this.context.store.now();
    this.board.show(fenOf({ board: this.#boardAt(moment), turn: 'w', castling: '', passant: -1, half: 0, full: 1 }));
    const last = [...this.#touches].reverse().find((touch) => touch.at <= moment);
    this.board.mark({ look: last ? [square(last.square)] : [] });
    this.board.label = t('sensed');
    setText(this.when, this.#cursor === null ? t('trace.now') : this.#clockOf(moment));
    this.#rows();
  }

  #clockOf(moment) {
    const time = new Date(moment);
    const two = (value) => String(value).padStart(2, '0');
    return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}${lang === 'ru' ? ',' : '.'}${Math.floor(time.getMilliseconds() / 100)}`;
  }

  #rows() {
    const from = this.#from();
    const to = this.#until();
    const shown = readTouches(this.#touches).filter((touch) => touch.at >= from && touch.at <= to).slice(-80);
    const key = `${shown.length} ${shown[0]?.at} ${shown.at(-1)?.at}`;
    if (key !== this.rowsKey) {
      this.rowsKey = key;
      fill(this.list, shown.map((touch) => el('li', { class: touch.unsure ? 'unsure' : null }, el('button', { type: 'button', 'data-at': touch.at, on: { click: () => this.#set(touch.at) } },
        el('span', { class: 'at', text: this.#clockOf(touch.at) }), el('b', { text: touch.square }),
        el('i', { class: `man ${(touch.to ?? touch.from ?? '') < 'a' ? 'w' : 'b'}${(touch.to ?? touch.from ?? '').toUpperCase()}`, 'aria-hidden': 'true' }),
        el('span', { text: t(touch.to ? (touch.from ? 'trace.exchanged' : 'trace.put') : 'trace.lifted') }),
        el('span', { class: 'soft', text: touch.rested === null ? '' : t(touch.from ? 'trace.stood' : 'trace.empty', { time: tenths(touch.rested, lang === 'ru') }) }),
        touch.unsure && el('span', { class: 'soft', text: t('trace.unsure') })))));
    }
    for (const button of this.list.querySelectorAll('button')) setAttr(button, 'aria-current', Number(button.dataset.at) === this.#cursor ? 'true' : null);
  }

  async #export() {
    const scene = this.#drawing('light', 1100, null);
    const png = await toPng(scene, PALETTES.light.paper);
    const day = new Date(this.#until()).toISOString().slice(0, 10);
    if (png) saveFile(`trace-table-${this.number}-${day}.png`, png, 'image/png');
  }
}
