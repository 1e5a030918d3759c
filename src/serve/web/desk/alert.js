// One alert on the screen: what happened, what to do, how sure, under which article, and the buttons.

import { diagram } from '../shared/board.js';
import { moveSquares, notation, play, plyNumber, sanOf, square, stateOf } from '../shared/chess.js';
import { clockText } from '../shared/clock.js';
import { el, fill, icon, iconButton, setText } from '../shared/dom.js';
import { has, loadWords, ownText, t, timeOfDay } from '../shared/i18n.js';
import { playerText, resultText } from '../shared/people.js';
import { pref } from '../shared/prefs.js';
import { fenAt } from '../shared/store.js';
import { correct, enter, order } from './api.js';
import { askText, attempt, confirm } from './dialogs.js';
import { confirmResult } from './results.js';

const ORDER = ['decides', 'go-now', 'look', 'note', 'log'];

/** Whether the person at the desk looks after this table. */
export function concerns({ me }, table) {
  return !me.tables || !pref('ownTables', true) || me.tables.includes(table);
}

/** When it was raised (ms); 0 where that is not known. */
export function momentOf(alert) {
  return Date.parse(alert.at) || 0;
}

/** Still asks for someone. */
export function isOpen(alert) {
  return alert.state === 'open' || alert.state === 'acknowledged';
}

/** Belongs on the quiet list: for the screen only, or not to be told to anyone. */
export function isQuiet(alert) {
  return alert.audience === 'arbiter-silent' || alert.severity === 'note' || alert.severity === 'log';
}

/** Most urgent first: severity, then unseen before seen, then what ends soonest, then the newest. */
export function byUrgency(a, b) {
  return ORDER.indexOf(a.alert.severity) - ORDER.indexOf(b.alert.severity)
    || (a.alert.state === 'open' ? 0 : 1) - (b.alert.state === 'open' ? 0 : 1)
    || (a.alert.deadline ? Date.parse(a.alert.deadline) : Infinity) - (b.alert.deadline ? Date.parse(b.alert.deadline) : Infinity) || 0
    || momentOf(b.alert) - momentOf(a.alert);
}

/** What happened, and what to do: the first sentence and the rest. */
export function sentences(text) {
  const end = text.search(/(?<!\b(?:no|No|art|п|ст|№))\.\s+(?=\S)/u);
  return end < 0 ? [text, ''] : [text.slice(0, end + 1), text.slice(end + 1).trim()];
}

/** How long ago, in words; nothing where it is not known. */
export function age(then, now) {
  if (!Number.isFinite(then)) return '';
  const seconds = Math.max(0, Math.round((now - then) / 1000));
  if (seconds < 60) return t('ago.seconds', { n: seconds });
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return t('ago.minutes', { n: minutes });
  return timeOfDay(then);
}

function moveText(fen, uci) {
  try {
    return notation(sanOf(stateOf(fen), uci), pref('notation', 'en'));
  } catch {
    return uci;
  }
}

/** A line as people write it from ply `index` of the game on: `18… Bd7 19. Qg6 Bf5`. */
function lineText(table, fen, line, index) {
  let state = stateOf(fen);
  return line.map((uci, at) => {
    const { move, black } = plyNumber(table.start, index + at);
    const number = black ? (at ? '' : `${move}… `) : `${move}. `;
    const text = `${number}${notation(sanOf(state, uci), pref('notation', 'en'))}`;
    state = play(state, uci);
    return text;
  }).join(' ');
}

/** The lines among which a person chooses: what the board showed leads to each of them. */
function choices(table, alert, choose) {
  const { candidates = [], index, replaces } = alert.detail ?? {};
  if (alert.code !== 'position-gap' || !candidates.length || index === undefined) return null;
  const buttons = candidates.map((plies) => el('button', { type: 'button', class: 'button', text: lineText(table, alert.advice.restore_fen, plies, index) || t('choice.none'), on: { click: () => choose({ what: 'choose', index, replaces, plies }) } }));
  return el('div', { class: 'choices', role: 'group', 'aria-label': t('choice') }, el('span', { class: 'soft', text: t('choice') }), buttons);
}

function facts(table, alert) {
  const { advice = {} } = alert;
  const list = [];
  const say = (text, kind = '') => list.push(el('li', { class: kind || null, text }));
  if (advice.add_seconds) say(t('advice.add', { side: t(advice.add_seconds.to), time: clockText(advice.add_seconds.seconds) }), 'strong');
  if (advice.resulting_clock) say(t('advice.clock', { white: clockText(advice.resulting_clock.white), black: clockText(advice.resulting_clock.black) }));
  if (advice.must_move_from?.length) say(t('advice.move-from', { squares: advice.must_move_from.join(', ') }), 'strong');
  if (advice.must_capture?.length) say(t('advice.capture', { squares: advice.must_capture.join(', ') }), 'strong');
  if (advice.must_play) say(t('advice.play', { move: moveText(fenAt(table, alert.ply - 1), advice.must_play) }), 'strong');
  if (advice.squares?.length) say(t('advice.squares', { squares: advice.squares.join(', ') }));
  return list;
}

/** A card that keeps itself up to date through `update`. */
export class AlertCard {
  constructor(context, table, alert, { inTable = false } = {}) {
    this.context = context;
    this.inTable = inTable;
    this.number = table.table;
    this.root = el('article', { class: 'alert' });
    this.ageNode = el('time');
    this.update(table, alert);
  }

  update(table, alert) {
    if (this.alert === alert && this.players === table.players && this.outcome === table.result && this.style === pref('notation', 'en')) return;
    this.alert = alert;
    this.table = table;
    this.players = table.players;
    this.outcome = table.result;
    this.style = pref('notation', 'en');
    const [what, todo] = sentences(ownText(alert.text));
    this.root.className = `alert ${alert.severity} ${alert.state}`;
    this.root.setAttribute('aria-label', `${t('table', { n: table.table })}: ${what}`);
    const { may } = this.context;
    const buttons = [];
    if (may.acknowledge && alert.state === 'open') buttons.push(el('button', { type: 'button', class: 'button primary', on: { click: () => this.#acknowledge() } }, icon('check'), el('span', { text: t('seen') })));
    if (may.acknowledge) buttons.push(el('button', { type: 'button', class: 'button', text: t('resolve'), on: { click: () => this.#resolve() } }));
    // What the alert proposes, or what the board itself has ended with.
    const offered = alert.advice?.result ?? (alert.severity === 'decides' && table.result?.state === 'proposed' ? table.result.value : null);
    if (offered && may.enter && table.result?.state !== 'final') buttons.push(el('button', { type: 'button', class: 'button strong', on: { click: () => confirmResult(this.table, offered) } }, icon('flag'), el('span', { text: t('confirm-result', { result: resultText(offered) }) })));
    buttons.push(el('a', { class: 'button', href: this.#traceLink() }, icon('trace'), el('span', { text: t('trace') })));
    if (alert.advice?.line?.length) buttons.push(el('button', { type: 'button', class: 'button', text: t('show-line'), on: { click: () => this.#line() } }));
    const chosen = (correction) => attempt(() => correct(this.number, correction), t('done.corrected'), { undo: () => correct(this.number, { what: 'undo' }) });
    const marks = {
      look: (alert.advice?.squares ?? []).map(square),
      from: [...(alert.advice?.must_move_from ?? []), ...(alert.advice?.must_capture ?? [])].map(square),
    };
    const restore = alert.advice?.restore_fen;
    // Where nothing has to be restored: the position it happened in, so that the table need not be opened for it.
    const then = !restore && !this.inTable && !isQuiet(alert) && alert.ply > 0 && alert.ply <= table.plies.length ? alert.ply : null;
    if (then !== null && !marks.look.length && !marks.from.length) marks.last = moveSquares(table.plies[then - 1].uci);
    const picture = restore ?? (then === null ? null : fenAt(table, then - 1));
    const caption = t(restore ? 'advice.restore' : 'advice.at');
    fill(this.root,
      el('div', { class: 'alert-head' },
        this.inTable ? null : el('a', { class: 'table-number', href: `#/table/${table.table}`, 'aria-label': t('table', { n: table.table }) }, el('b', { text: String(table.table) })),
        this.inTable ? null : el('p', { class: 'pair', text: `${playerText(table.players.white)} – ${playerText(table.players.black)}` }),
        el('span', { class: 'severity', text: t(`severity.${alert.severity}`) }), this.ageNode,
        may.correct && iconButton('mute', t('mute'), () => this.#mute())),
      el('div', { class: 'alert-body' },
        el('div', { class: 'alert-text' },
          el('p', { class: 'what', text: what }),
          todo && el('p', { class: 'todo', text: todo }),
          el('ul', { class: 'facts' }, facts(table, alert),
            alert.article && el('li', { text: t('article', { n: alert.article }), title: alert.profile }),
            el('li', { class: alert.certainty, text: t(`certainty.${alert.certainty}`) }),
            alert.audience === 'arbiter-silent' && el('li', { class: 'silent', text: t('silent'), title: t('silent.hint') }),
            alert.state === 'acknowledged' && el('li', { text: alert.by ? t('seen-by', { name: alert.by }) : t('seen') }),
            this.deadline = alert.deadline ? el('li', { class: 'strong' }) : null),
          may.correct && isOpen(alert) && choices(table, alert, chosen),
          el('div', { class: 'alert-actions' }, buttons)),
        picture && el('figure', { class: restore ? 'restore' : 'then' }, diagram(picture, { marks, label: caption }), el('figcaption', { text: caption }))));
    this.tick(this.context.store.now());
  }

  #traceLink() {
    return `#/table/${this.number}/trace?at=${momentOf(this.alert)}&alert=${this.alert.id}`;
  }

  tick(now) {
    setText(this.ageNode, age(Date.parse(this.alert.at), now));
    this.ageNode.dateTime = this.alert.at;
    if (this.deadline) setText(this.deadline, t('deadline', { time: clockText(Math.max(0, (Date.parse(this.alert.deadline) - now) / 1000)) }));
  }

  #acknowledge() {
    return attempt(() => enter(this.number, { act: 'acknowledge', alert: this.alert.id }));
  }

  async #resolve() {
    const note = await askText(t('resolve'), t('resolve.note'), { long: true });
    if (note === null) return;
    await attempt(() => enter(this.number, { act: 'resolve', alert: this.alert.id, note }), t('resolved'));
  }

  async #mute() {
    const { code } = this.alert;
    await loadWords('tools');
    const yes = await confirm(t('mute'), t('mute.text', { code: has(`code.${code}`) ? t(`code.${code}`) : code, n: this.number }));
    if (yes) await attempt(() => order({ do: 'mute', table: this.number, code, muted: true }), t('muted'), { undo: () => order({ do: 'mute', table: this.number, code, muted: false }) });
  }

  async #line() {
    const { showLine } = await import('./line.js');
    const from = this.alert.code === 'position-gap' ? this.alert.advice.restore_fen : fenAt(this.table, this.alert.ply - 1);
    showLine(from, this.alert.advice.line, ownText(this.alert.text));
  }
}
