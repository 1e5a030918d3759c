// A claim: what the player says, and the daemon's answer with the positions side by side.

import { diagram } from '../shared/board.js';
import { moveSquares, notation, plyNumber, sanOf, stateOf } from '../shared/chess.js';
import { clockText } from '../shared/clock.js';
import { el, fill } from '../shared/dom.js';
import { lang, ownText, t } from '../shared/i18n.js';
import { playerText, resultText } from '../shared/people.js';
import { pref } from '../shared/prefs.js';
import { fenAt } from '../shared/store.js';
import { enter } from './api.js';
import { attempt, openDialog } from './dialogs.js';
import { confirmResult } from './results.js';
import { MovePicker } from './picker.js';

const KINDS = ['threefold', '50-move', 'flag', 'illegal-move', 'quickplay-increment', 'quickplay-finish'];
/** Claims that may name a move not yet made (Laws 9.2.1, 9.3.1). */
const WITH_MOVE = new Set(['threefold', '50-move']);

export function claimDialog(context, table) {
  const turn = fenAt(table).split(' ')[1] === 'b' ? 'black' : 'white';
  const chosen = { side: turn, kind: 'threefold' };
  return openDialog(t('claim'), (close, form) => {
    const picker = new MovePicker(fenAt(table), { label: t('claim.move') });
    const withMove = el('div', {}, el('p', { class: 'soft', text: t('claim.move.hint') }), picker.root);
    const radios = (name, values, label) => el('fieldset', {}, el('legend', { text: t(`claim.${name}`) }),
      el('div', { class: 'choices' }, values.map((value) => el('label', {},
        el('input', { type: 'radio', name, value, checked: chosen[name] === value, on: { change: () => { chosen[name] = value; withMove.hidden = !WITH_MOVE.has(chosen.kind); } } }),
        el('span', { text: label(value) })))));
    const send = el('button', { type: 'button', class: 'button primary', text: t('claim.check'), on: { click: async () => {
      send.disabled = true;
      const entry = { act: 'claim', side: chosen.side, kind: chosen.kind };
      if (WITH_MOVE.has(chosen.kind) && picker.uci) entry.intended = picker.uci;
      // The stream may bring the answer before the order itself is answered.
      const coming = nextAnswer(context, table.table);
      const answer = await attempt(() => enter(table.table, entry));
      send.disabled = false;
      if (!answer) return;
      const found = answerOf(answer) ?? await coming;
      if (found) fill(form, form.querySelector('header'), answerView(context, table, found, entry, close));
      else close();
      form.closest('dialog').classList.add('wide');
      form.querySelector('.answer')?.focus();
    } } });
    return [
      radios('side', ['white', 'black'], (side) => `${t(side)}: ${playerText(table.players[side])}`),
      radios('kind', KINDS, (kind) => t(`claim.kind.${kind}`)),
      withMove,
      el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close() } }), send),
    ];
  }, { wide: true });
}

/** The answer as the stream brings it, if it comes within five seconds. */
function nextAnswer({ store }, number) {
  return new Promise((done) => {
    const stop = store.subscribe((kind, table, message) => { if (kind === 'answer' && table === number) { finish(message.answer); } });
    const timer = setTimeout(() => finish(null), 5000);
    function finish(answer) { stop(); clearTimeout(timer); done(answer); }
  });
}

function moveName(table, ply) {
  const entry = table.plies[ply - 1];
  if (!entry) return ply === 0 ? t('start-position') : '';
  const { move, black } = plyNumber(table.start, ply - 1);
  return `${move}${black ? '…' : '.'} ${notation(entry.san, pref('notation', 'en'))}`;
}

/** One occurrence: `ply` counts the plies made before the position stood. */
function occurrence(table, { ply, fen }, intended) {
  const made = ply <= table.plies.length;
  const name = made ? moveName(table, ply) : t('claim.intended');
  const squares = made ? moveSquares(table.plies[ply - 1]?.uci) : moveSquares(intended);
  return el('figure', {}, diagram(fen ?? fenAt(table, ply - 1), { label: name, marks: { last: squares } }), el('figcaption', { text: name }));
}

/** What the desk shows for an answer of the daemon. */
export function answerView(context, table, answer, entry, close) {
  const { valid } = answer;
  const claim = answer.act === 'claim' || valid !== undefined;
  const verdict = !claim ? '' : valid === true ? t('claim.valid') : valid === false ? t('claim.invalid') : t('claim.open');
  const known = [];
  const fact = (label, value) => { if (value !== undefined && value !== null && value !== '') known.push(el('div', {}, el('dt', { text: label }), el('dd', { text: String(value) }))); };
  const side = (letter) => t(letter === 'w' || letter === 'white' ? 'white' : 'black');
  fact(t('claim.fact.count'), answer.occurrences?.length);
  if (typeof answer.halfmoves === 'number' && ['threefold', '50-move'].includes(answer.kind)) fact(t('claim.fact.fifty'), lang === 'ru' ? String(answer.halfmoves / 2).replace('.', ',') : answer.halfmoves / 2);
  if (answer.penalty) fact(t('claim.fact.penalty'), t('advice.add', { side: side(answer.penalty.to), time: clockText(answer.penalty.add_s) }));
  if (answer.clock_after) fact(t('claim.fact.clock'), `${clockText(answer.clock_after.w)} / ${clockText(answer.clock_after.b)}`);
  if (answer.must_play) fact(t('claim.fact.must-play'), moveIn(fenAt(table), answer.must_play));
  if (answer.completed && typeof answer.completed === 'object') fact(t('count.completed'), `${answer.completed.w} / ${answer.completed.b}`);
  fact(t('claim.fact.article'), answer.article);
  const list = answer.positions ?? [];
  const text = answer.text ? ownText(answer.text) : '';
  const nodes = [
    el('div', { class: `answer ${valid === true ? 'valid' : valid === false ? 'invalid' : ''}`, tabindex: '-1', role: 'status' },
      verdict && el('p', { class: 'verdict', text: verdict }), text && el('p', { text })),
    known.length > 0 && el('dl', { class: 'counts' }, known),
    list.length > 0 && el('div', { class: 'occurrences', role: 'group', 'aria-label': t('claim.occurrences') }, list.map((item) => occurrence(table, item, entry?.intended))),
    answer.restore_fen && el('figure', { class: 'restore' }, diagram(answer.restore_fen, { label: t('advice.restore') }), el('figcaption', { text: t('advice.restore') })),
    Array.isArray(answer.line) && answer.line.length > 0 && el('button', { type: 'button', class: 'button', text: t('show-line'), on: { click: async () => (await import('./line.js')).showLine(fenAt(table), answer.line, text) } }),
  ];
  const buttons = [];
  if (valid === true && answer.result && context.may.enter) {
    const word = answer.result;
    buttons.push(el('button', { type: 'button', class: 'button primary', text: t('confirm-result', { result: resultText(word) }), on: { click: async () => {
      if (await confirmResult(table, word)) close();
    } } }));
  }
  nodes.push(el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('close'), on: { click: () => close() } }), buttons));
  return nodes;
}

function moveIn(fen, uci) {
  return notation(sanOf(stateOf(fen), uci), pref('notation', 'en'));
}

/** The answer among the updates that an order caused. */
export function answerOf(done) {
  return (done?.updates ?? []).filter((update) => update.type === 'answer').at(-1)?.answer ?? null;
}

/** Opens an answer in a dialog of its own. */
export function showAnswer(context, table, answer, title) {
  return openDialog(title, (close) => answerView(context, table, answer, null, close), { wide: Boolean(answer.positions?.length) });
}
