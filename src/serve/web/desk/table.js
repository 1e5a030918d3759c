// One table: what is sensed against the position, clocks with their age, moves, counts, and all that
// can be entered or put right.

import { Board } from '../shared/board.js';
import { boardOf, checkedKing, moveSquares, squareName, stateOf } from '../shared/chess.js';
import { clockText, onTick, secondsLeft } from '../shared/clock.js';
import { el, fill, icon, iconButton, setAttr, setText } from '../shared/dom.js';
import { has, ownText, t, timeOfDay } from '../shared/i18n.js';
import { MoveList } from '../shared/moves.js';
import { controlText, playerLine, reasonText, resultText } from '../shared/people.js';
import { batch, fenAt } from '../shared/store.js';
import { over } from '../shared/tile.js';
import { adjournedText, resumeDialog } from './adjourn.js';
import { AlertCard, age, byUrgency, isOpen, isQuiet, momentOf } from './alert.js';
import { appendPly, deletePly, insertPly, plyText, promotionPiece, replacePly, rotate, setPosition, swapBoards, undoCorrection } from './corrections.js';
import { entryButtons } from './entries.js';
import { HealthBox, MutedBox } from './health.js';
import { confirmResult } from './results.js';

/** A piece in the air is no difference yet: for so long (ms) it is not named. */
const SETTLE = 1500;

export class TableView {
  #sides = {};
  #cards = new Map();
  #at = null;
  #differsSince = null;
  #countsShown = '';

  constructor(context, number) {
    this.context = context;
    this.number = number;
    // An arbiter enters and corrects at his own tables.
    const own = !context.me.tables || context.me.tables.includes(number);
    const may = { enter: context.may.enter && own, correct: context.may.correct && (own || !context.may.enter) };
    this.may = may;
    this.board = new Board({ coords: true, glide: true });
    this.moves = new MoveList({ choose: (index) => this.#goto(index) });
    this.mode = 'position';
    for (const side of ['white', 'black']) {
      const clock = el('span', { class: 'clock' });
      const who = el('div', { class: 'who' });
      this.#sides[side] = { clock, who, row: el('div', { class: `side ${side}` }, who, clock) };
    }
    this.modes = ['position', 'sensed'].map((mode) => el('button', { type: 'button', 'data-mode': mode, text: t(mode), on: { click: () => { this.mode = mode; this.refresh(); } } }));
    this.differs = el('p', { class: 'differs', role: 'status' });
    this.clockAge = el('span', { class: 'soft' });
    this.flip = iconButton('flip', t('flip'), () => this.#flip());
    this.stage = el('div', { class: 'stage' }, this.#sides.black.row, this.board.root, this.#sides.white.row,
      el('div', { class: 'stage-tools' }, el('div', { class: 'segments', role: 'group', 'aria-label': t('board-shows') }, this.modes), this.flip, this.clockAge), this.differs);
    this.heading = el('h1');
    this.status = el('p', { class: 'status-line' });
    this.result = el('p', { class: 'outcome', hidden: true });
    this.alerts = el('div', { class: 'alerts' });
    this.selected = el('div', { class: 'selected', hidden: true });
    this.steps = [iconButton('first', t('first'), () => this.#goto(-1)), iconButton('prev', t('previous'), () => this.#step(-1)), iconButton('next', t('next'), () => this.#step(1)), iconButton('last', t('latest'), () => this.#goto(null))];
    this.counts = el('dl', { class: 'counts' });
    this.countsBox = el('section', { class: 'box', hidden: true }, el('h2', { text: t('counts') }), this.counts, el('p', { class: 'soft', text: t('counts.silent') }));
    this.quiet = el('ul', { class: 'quiet' });
    this.quietBox = el('details', { class: 'box', hidden: true }, el('summary', {}, `${t('quiet')} `, this.quietCount = el('span', { class: 'soft' })), this.quiet);
    this.muted = new MutedBox(number, may.correct);
    this.health = new HealthBox(number);
    const current = () => this.table;
    const fix = (text, act) => el('button', { type: 'button', class: 'button', text, on: { click: () => act(current()) } });
    const corrections = el('details', { class: 'box' }, el('summary', { text: t('corrections') }), el('div', { class: 'buttons' },
      fix(t('sheet'), async (table) => (await import('./sheet.js')).typeSheet(table)), fix(t('names'), async (table) => (await import('./names.js')).correctNames(table)), fix(t('correct.append'), appendPly), fix(t('correct.position'), setPosition), fix(t('correct.promotion'), promotionPiece), fix(t('correct.rotated'), rotate),
      fix(t('correct.swap'), (table) => swapBoards(context, table)), el('button', { type: 'button', class: 'button', on: { click: () => undoCorrection(current()) } }, icon('undo'), el('span', { text: t('correct.undo') }))));
    this.moveBox = el('section', { class: 'box moves-box', 'aria-label': t('moves') }, this.moves.root, this.noMoves = el('p', { class: 'soft', text: t('moves.none') }), this.selected, el('div', { class: 'steps' }, this.steps));
    this.root = el('div', { class: 'table-view' },
      el('div', { class: 'table-head' }, this.heading, this.status,
        el('div', { class: 'buttons' }, el('a', { class: 'button', href: `#/table/${number}/trace` }, icon('trace'), el('span', { text: t('trace') })),
          el('a', { class: 'button', href: `#/print/score/${number}` }, icon('print'), el('span', { text: t('score-sheet') })),
          this.pgn = el('a', { class: 'button', download: true }, icon('download'), el('span', { text: 'PGN' })))),
      el('div', { class: 'main-column' }, this.stage, el('div', { class: 'extras' }, this.countsBox, this.muted.root, this.health.root)),
      el('div', { class: 'side-column' }, this.result, this.alerts, this.moveBox, this.quietBox, may.correct && corrections),
      may.enter ? el('section', { class: 'box entries', 'aria-label': t('entries') }, el('h2', { text: t('entries') }), entryButtons(context, current))
        : el('p', { class: 'soft entries-none', text: t(context.may.enter ? 'not-your-table' : 'no-entries', { role: t(`role.${context.me.role}`) }) }),
      this.missing = el('p', { class: 'empty', hidden: true, text: t('gone', { n: number }) }));
    this.later = batch(() => this.refresh());
    this.unsubscribe = context.store.subscribe((kind, table) => { if (kind === 'snapshot' || table === number) this.later('x'); });
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
    return this.context.store.tables.get(this.number);
  }

  close() {
    this.unsubscribe();
    this.untick();
    document.removeEventListener('keydown', this.keys);
  }

  #goto(index) {
    const count = this.table?.plies.length ?? 0;
    this.#at = index === null ? null : Math.max(-1, Math.min(index, count - 1));
    this.refresh();
  }

  #step(by) {
    const count = this.table?.plies.length ?? 0;
    const next = (this.#at ?? count - 1) + by;
    this.#goto(next >= count ? null : next);
  }

  #flip() {
    const flipped = !this.board.flipped;
    this.board.flip(flipped);
    this.flip.setAttribute('aria-pressed', String(flipped));
    this.stage.classList.toggle('turned', flipped);
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.('input, textarea, select, dialog')) return;
    const act = { ArrowLeft: () => this.#step(-1), ArrowRight: () => this.#step(1), Home: () => this.#goto(-1), End: () => this.#goto(null), f: () => this.#flip(), s: () => { this.mode = this.mode === 'sensed' ? 'position' : 'sensed'; this.refresh(); } }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  refresh() {
    const { table } = this;
    this.missing.hidden = !this.context.store.ready || Boolean(table);
    this.root.classList.toggle('absent', !table);
    if (!table) return;
    const count = table.plies.length;
    if (this.#at !== null && this.#at >= count) this.#at = null;
    const index = this.#at ?? count - 1;
    const fen = fenAt(table, index);
    const ply = table.plies[index];
    const sensed = this.mode === 'sensed' && this.#at === null && table.sensed;
    const differ = this.#at === null ? this.#differences(table, fen) : [];
    this.board.show(sensed ? table.sensed : fen);
    this.board.mark({ last: ply && !sensed ? moveSquares(ply.uci) : [], check: ply && !sensed && /[+#]/.test(ply.san) ? [checkedKing(stateOf(fen))] : [], differ });
    this.board.label = sensed ? t('sensed') : index < 0 ? t('start-position') : t('after-move', { move: plyText(table, index) });
    this.stage.classList.toggle('provisional', ply?.state === 'provisional');
    for (const button of this.modes) button.setAttribute('aria-pressed', String(button.dataset.mode === this.mode));
    this.moves.update(table, index);
    this.noMoves.hidden = count > 0;
    this.#head(table);
    this.#selection(table, index);
    this.#openAlerts(table);
    this.#tallies(table);
    this.muted.update(table);
    this.health.update(table);
    this.steps[0].disabled = this.steps[1].disabled = index < 0;
    this.steps[2].disabled = this.steps[3].disabled = this.#at === null;
    this.tick();
  }

  #differences(table, fen) {
    // After the end the men are put away: nothing differs then.
    if (!table.sensed || table.link?.online === false || over(table)) { this.#differsSince = null; return []; }
    const position = boardOf(fen);
    const seen = boardOf(table.sensed);
    const squares = position.map((letter, at) => (letter !== seen[at] ? at : -1)).filter((at) => at >= 0);
    if (!squares.length) this.#differsSince = null;
    else this.#differsSince ??= performance.now();
    this.different = squares;
    return squares;
  }

  #head(table) {
    setText(this.heading, t('table', { n: table.table }));
    if (this.players !== table.players) {
      this.players = table.players;
      for (const side of ['white', 'black']) fill(this.#sides[side].who, playerLine(table.players[side], { rating: true }));
    }
    const { link = {} } = table;
    const parts = [t(`state.${table.status}`), controlText(table.time_control), table.profile,
      link.board ? t('board-named', { board: link.board }) : t('no-board'),
      link.online === false ? `${t('offline')}${link.reason ? ` (${link.reason})` : ''}` : null,
      link.clock === false ? t('no-clock') : null, link.rotated ? t('rotated') : null,
      link.battery ? t('battery', { percent: link.battery.percent ?? '?' }) : null, table.chess960 ? 'Chess960' : null];
    setText(this.status, parts.filter(Boolean).join(' · '));
    this.status.classList.toggle('warn', link.online === false || link.clock === false);
    setAttr(this.pgn, 'href', `/round/${table.round || 'current'}/game-${table.table}.pgn`);
    const { result } = table;
    this.result.hidden = !result;
    const waits = Boolean(table.adjourned);
    if (result && (this.outcome !== result || this.waits !== JSON.stringify(table.adjourned))) {
      this.outcome = result;
      this.waits = JSON.stringify(table.adjourned);
      fill(this.result, el('strong', { class: result.state === 'proposed' ? 'result proposed' : 'result', text: resultText(result.value) }),
        el('span', { text: waits ? adjournedText(table) : [reasonText(result.reason), result.state === 'proposed' && t('proposed')].filter(Boolean).join(' · ') }),
        waits && this.may.enter && el('button', { type: 'button', class: 'button primary', text: t('adjourn.resume'), on: { click: () => resumeDialog(this.table) } }),
        result.state === 'proposed' && this.may.enter && el('button', { type: 'button', class: 'button primary', text: t('confirm'), on: { click: () => confirmResult(this.table, result.value) } }));
    }
  }

  #selection(table, index) {
    const show = this.#at !== null && this.may.correct && index >= 0;
    this.selected.hidden = !show;
    const key = show ? `${index} ${table.plies[index].uci}` : '';
    if (this.selected.dataset.key === key) return;
    this.selected.dataset.key = key;
    if (!show) { fill(this.selected); return; }
    const button = (text, act) => el('button', { type: 'button', class: 'button', text, on: { click: () => act(this.table, index) } });
    fill(this.selected, el('p', { text: plyText(table, index) }), el('div', { class: 'buttons' },
      button(t('correct.replace'), replacePly), button(t('correct.insert'), insertPly), button(t('correct.delete'), deletePly)));
  }

  #openAlerts(table) {
    const all = [...table.alerts.values()].filter(isOpen);
    this.#quietRows(all.filter(isQuiet).sort((a, b) => momentOf(b) - momentOf(a)).slice(0, 30));
    const open = all.filter((alert) => !isQuiet(alert)).map((alert) => ({ table, alert })).sort(byUrgency).slice(0, 8);
    const seen = new Set();
    open.forEach(({ alert }, at) => {
      const key = `${table.game} ${alert.id}`;
      seen.add(key);
      let card = this.#cards.get(key);
      if (!card) { card = new AlertCard(this.context, table, alert, { inTable: true }); this.#cards.set(key, card); }
      card.update(table, alert);
      if (this.alerts.children[at] !== card.root) this.alerts.insertBefore(card.root, this.alerts.children[at] ?? null);
    });
    for (const [key, card] of this.#cards) if (!seen.has(key)) { card.root.remove(); this.#cards.delete(key); }
  }

  #quietRows(quiet) {
    const key = quiet.map((alert) => `${alert.id} ${alert.state}`).join();
    if (key === this.quietKey) return;
    this.quietKey = key;
    this.quietBox.hidden = quiet.length === 0;
    setText(this.quietCount, String(quiet.length));
    fill(this.quiet, quiet.map((alert) => el('li', { class: alert.audience === 'arbiter-silent' ? 'silent' : '' }, el('a', { href: `#/table/${this.number}/trace?at=${momentOf(alert)}&alert=${alert.id}` },
      el('span', { text: ownText(alert.text) }), el('span', { class: 'soft', text: [timeOfDay(Date.parse(alert.at)), alert.article && t('article', { n: alert.article }), alert.audience === 'arbiter-silent' && t('silent')].filter(Boolean).join(' · ') })))));
  }

  /** The referee's tallies, by side; and what the players may not be told is marked. */
  #tallies(table) {
    const text = JSON.stringify(table.counts ?? null);
    if (text === this.#countsShown) return;
    this.#countsShown = text;
    const counts = table.counts ?? {};
    const rows = [];
    const word = (value) => (value === true ? t('yes') : value === false ? t('no') : value === null || value === undefined ? '–' : String(value));
    const label = (key) => (has(`count.${key}`) ? t(`count.${key}`) : key.replaceAll(/[_-]/g, ' '));
    const pairs = Object.entries(counts).filter(([, value]) => value && typeof value === 'object' && !Array.isArray(value) && 'w' in value && 'b' in value);
    if (pairs.length) rows.push(el('div', { class: 'head' }, el('dt', {}), el('dd', { text: t('white') }), el('dd', { text: t('black') })));
    for (const [key, value] of pairs) rows.push(el('div', {}, el('dt', { text: label(key) }), el('dd', { text: word(value.w) }), el('dd', { text: word(value.b) })));
    const one = (key, value) => rows.push(el('div', {}, el('dt', { text: label(key) }), el('dd', { text: value })));
    if (counts.draw_offer) one('draw_offer', t(counts.draw_offer === 'w' ? 'white' : 'black'));
    if (counts.obligation) one('obligation', [counts.obligation.from, counts.obligation.capture].flat().filter(Boolean).join(' '));
    if (counts.claims?.length) one('claims', counts.claims.map((code) => (has(`code.${code}`) ? t(`code.${code}`) : code)).join(', '));
    this.countsBox.hidden = rows.length === 0;
    fill(this.counts, rows);
  }

  tick() {
    const { table } = this;
    if (!table) return;
    const now = this.context.store.now();
    const stopped = over(table);
    for (const side of ['white', 'black']) {
      const { clock } = this.#sides[side];
      const past = this.#at === null || this.#at < 0 ? null : table.plies[this.#at]?.clock?.[side];
      const left = this.#at === null ? secondsLeft(table.clock, side, now, stopped) : past ?? null;
      setText(clock, clockText(left));
      const running = this.#at === null && !stopped && table.clock?.running === side;
      const kind = `clock${running ? ' running' : ''}${left !== null && left < 60 ? ' low' : ''}`;
      if (clock.className !== kind) clock.className = kind;
    }
    setText(this.clockAge, table.clock?.at ? t('clock-read', { age: age(table.clock.at, now) }) : t('no-clock'));
    const since = this.#differsSince;
    const named = since !== null && performance.now() - since > SETTLE && this.#at === null;
    setText(this.differs, named ? t('differs', { squares: this.different.map(squareName).join(' ') }) : '');
    for (const card of this.#cards.values()) card.tick(now);
    this.health.tick(now);
  }
}

