// The arbiter's entries about one game: each is confirmed, each goes into the log, and where the Laws
// know a way back, it is offered.

import { el } from '../shared/dom.js';
import { ownText, t } from '../shared/i18n.js';
import { playerText, resultText } from '../shared/people.js';
import { enter } from './api.js';
import { answerOf, claimDialog, showAnswer } from './claim.js';
import { askText, attempt, confirm, openDialog, toast } from './dialogs.js';
import { confirmResult } from './results.js';

const RESULTS = ['1-0', '1/2-1/2', '0-1'];
const RARE_RESULTS = ['+:-', '-:+', '-:-', '0-0', '1/2-0', '0-1/2', 'adj'];

/** Answers that deserve more than a line. */
const SHOWN = new Set(['report-illegal-found', 'report-clock-setting', 'query-move-count', 'adjourn']);

/** Enters it, says so, and shows what the daemon answers. */
async function make(context, table, entry, what, undo = null) {
  const done = await attempt(() => enter(table.table, entry));
  if (!done) return;
  const answer = answerOf(done);
  if (answer && SHOWN.has(answer.act)) { await showAnswer(context, table, answer, what); return; }
  const text = answer?.text ? ownText(answer.text) : '';
  toast(text || t('done.entry', { what }), { undo: undo && (() => enter(table.table, undo)) });
}

function names(table) {
  return t('confirm-result.text', { n: table.table, white: playerText(table.players.white), black: playerText(table.players.black) });
}

async function plain(context, table, entry, title, { back = null } = {}) {
  if (await confirm(title, names(table))) await make(context, table, entry, title, back);
}

/** Asks for which side, then does it. */
function bySide(context, table, title, act, { extra = {}, back = null, none = false } = {}) {
  return openDialog(title, (close) => [
    el('p', { text: t('which-side') }),
    el('div', { class: 'sides' }, ['white', 'black'].map((side) => el('button', { type: 'button', class: 'button', on: { click: () => close(side) } },
      el('span', { class: `dot ${side}` }), el('span', { text: `${t(side)}: ${playerText(table.players[side])}` })))),
    none && el('button', { type: 'button', class: 'button', text: t('no-side'), on: { click: () => close('none') } }),
  ]).then((side) => {
    if (!side) return null;
    const entry = { act, ...extra };
    if (side !== 'none') entry.side = side;
    return make(context, table, entry, title, back);
  });
}

/** The buttons of a table, in the order an arbiter needs them. */
export function entryButtons(context, current) {
  const button = (text, click, kind = '') => el('button', { type: 'button', class: `button ${kind}`, text, on: { click: () => click(current()) } });
  const reopen = { act: 'reopen' };
  const group = (name, ...buttons) => el('div', { class: 'entry-group' }, el('h3', { text: t(name) }), el('div', { class: 'buttons' }, buttons));
  return [
    group('entry.result', RESULTS.map((value) => button(resultText(value), (table) => confirmResult(table, value), 'result-button')),
      button(t('entry.more'), async (table) => {
        const value = await openDialog(t('entry.result'), (close) => el('div', { class: 'sides' }, RARE_RESULTS.map((word) => el('button', { type: 'button', class: 'button', on: { click: () => close(word) } }, el('b', { class: 'result', text: resultText(word) }), el('span', { text: t(`result.${word}`) })))));
        if (value) await confirmResult(table, value);
      })),
    group('entry.player',
      button(t('claim'), (table) => claimDialog(context, table), 'strong'),
      button(t('entry.draw-offer'), (table) => bySide(context, table, t('entry.draw-offer'), 'draw-offer')),
      button(t('entry.draw-reject'), (table) => bySide(context, table, t('entry.draw-reject'), 'draw-reject')),
      button(t('entry.draw-agreed'), (table) => plain(context, table, { act: 'draw-agreed' }, t('entry.draw-agreed'), { back: reopen })),
      button(t('entry.resign'), (table) => bySide(context, table, t('entry.resign'), 'resign', { back: reopen }))),
    group('entry.seen',
      button(t('entry.illegal'), (table) => bySide(context, table, t('entry.illegal'), 'report-illegal-found', { none: true })),
      button(t('entry.two-hands'), (table) => bySide(context, table, t('entry.two-hands'), 'two-hands')),
      button(t('entry.touch'), async (table) => {
        const ruling = await openDialog(t('entry.touch'), (close) => el('div', { class: 'sides' }, ['deliberate', 'adjusted', 'accidental'].map((word) => el('button', { type: 'button', class: 'button', text: t(`touch.${word}`), on: { click: () => close(word) } }))));
        if (ruling) await make(context, table, { act: 'touch-ruling', ruling }, t(`touch.${ruling}`));
      }),
      button(t('entry.flag'), (table) => bySide(context, table, t('entry.flag'), 'ack-flag')),
      button(t('entry.count'), (table) => bySide(context, table, t('entry.count'), 'query-move-count', { none: true })),
      button(t('entry.colours'), (table) => plain(context, table, { act: 'report-reversed-colours' }, t('entry.colours'))),
      button(t('entry.clock-setting'), (table) => bySide(context, table, t('entry.clock-setting'), 'report-clock-setting', { none: true })),
      button(t('entry.absent'), (table) => bySide(context, table, t('entry.absent'), 'absent'))),
    group('entry.game',
      button(t('entry.pause'), async (table) => {
        const reason = await askText(t('entry.pause'), t('entry.pause.reason'));
        if (reason !== null) await make(context, table, { act: 'pause', reason }, t('entry.pause'));
      }),
      button(t('entry.signed'), (table) => plain(context, table, { act: 'scoresheets-signed', ...(table.result ? { result: table.result.value } : {}) }, t('entry.signed'))),
      button(t('entry.adjourn'), (table) => plain(context, table, { act: 'adjourn' }, t('entry.adjourn'), { back: reopen })),
      button(t('entry.reopen'), (table) => plain(context, table, reopen, t('entry.reopen'))),
      button(t('entry.incident'), async (table) => {
        const note = await askText(t('entry.incident'), t('entry.incident.note'), { long: true, required: true });
        if (note) await attempt(() => enter(table.table, { act: 'incident', note }), t('done.entry', { what: t('entry.incident') }));
      })),
  ];
}
