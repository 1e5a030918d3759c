// Typing a game from its score sheet: read move by move while it is typed, in English or Russian
// notation; where it stops being readable is shown, with what may have been meant.

import { diagram } from '../shared/board.js';
import { moveSquares, notation, plyNumber } from '../shared/chess.js';
import { el, fill, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { playerText } from '../shared/people.js';
import { pref } from '../shared/prefs.js';
import { correct, readSheet } from './api.js';
import { attempt, openDialog } from './dialogs.js';

/** How long after the last key (ms) the sheet is read. */
const PAUSE = 300;

/** Where the word that could not be read stands in the text: `[from, to]`, or `null`. */
export function placeOf(text, fault) {
  const words = /\{[^}]*\}|;[^\n]*|\$\d+|\(=\)|\S+/gu;
  let count = 0;
  for (const match of text.matchAll(words)) {
    let [word] = match;
    let at = match.index;
    if (/^[{;$(]/u.test(word)) continue;
    // A move number may stand right before its move.
    const number = word.match(/^\d+\s*[.…]+/u);
    if (number) { at += number[0].length; word = word.slice(number[0].length); }
    if (!word || /^\d+$/u.test(word) || /^[.…]+$/u.test(word)) continue;
    if (count === fault.ply && word.startsWith(fault.text)) return [at, at + word.length];
    count += 1;
  }
  const found = fault.text ? text.indexOf(fault.text) : -1;
  return found < 0 ? null : [found, found + fault.text.length];
}

function moveName(start, index) {
  const { move, black } = plyNumber(start, index);
  return `${move}${black ? '…' : '.'}`;
}

/** How a typed game stands to what is recorded. */
export function compare(recorded, typed) {
  const same = typed.findIndex((uci, index) => uci !== recorded[index]);
  const at = same < 0 ? typed.length : same;
  if (at === typed.length) return recorded.length > typed.length ? { kind: 'shorter', at } : { kind: 'same', at };
  return recorded.length > at ? { kind: 'differs', at } : { kind: 'longer', at };
}

export async function typeSheet(table) {
  const plies = await openDialog(t('sheet'), (close) => {
    let read = null;
    let asked = 0;
    let timer = null;
    const input = el('textarea', { rows: 9, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', autofocus: true, placeholder: t('sheet.example'), 'aria-describedby': 'sheet-state' });
    const state = el('p', { id: 'sheet-state', class: 'sheet-state', role: 'status' });
    const echo = el('p', { class: 'echo', hidden: true });
    const meant = el('div', { class: 'buttons', hidden: true });
    const against = el('p', { class: 'soft' });
    const picture = el('div', { class: 'preview' });
    const caption = el('p', { class: 'soft preview-text' });
    const take = el('button', { type: 'button', class: 'button primary', text: t('sheet.take'), disabled: true, on: { click: () => close(read.plies) } });

    const draw = () => {
      const { fault, san } = read;
      const style = pref('notation', 'en');
      const count = san.length;
      const last = count ? `${moveName(table.start, count - 1)} ${notation(san[count - 1], style)}` : '';
      state.classList.toggle('bad', Boolean(fault));
      setText(state, fault ? t('sheet.stops', { move: moveName(table.start, fault.ply), text: fault.text, why: t(`sheet.why.${count === fault.ply ? 'move' : 'text'}`) }) : count ? t('sheet.read', { n: count, last }) : t('sheet.empty'));
      const place = fault ? placeOf(input.value, fault) : null;
      echo.hidden = !place;
      if (place) {
        const lead = input.value.slice(Math.max(0, place[0] - 60), place[0]);
        fill(echo, place[0] > 60 && '… ', lead, el('mark', { text: input.value.slice(...place) }), el('span', { class: 'soft', text: input.value.slice(place[1], place[1] + 60) }));
      }
      meant.hidden = !fault?.candidates?.length;
      fill(meant, !meant.hidden && el('span', { class: 'soft', text: t('sheet.meant') }), (fault?.candidates ?? []).slice(0, 6).map((word) => el('button', { type: 'button', class: 'button', text: notation(word, style), on: { click: () => {
        const here = placeOf(input.value, fault);
        if (!here) return;
        // One letter is Russian, then all are: the word goes in as the rest is written.
        const russian = /[КФЛСр]/u.test(input.value.replace(fault.text, ''));
        input.setRangeText(notation(word, russian ? 'ru' : 'en'), ...here, 'end');
        input.focus();
        ask(0);
      } } })));
      fill(picture, diagram(read.fen, { label: last || t('start-position'), marks: { last: count ? moveSquares(read.plies[count - 1]) : [] } }));
      setText(caption, last ? t('after-move', { move: last }) : t('start-position'));
      const found = compare(table.plies.map((ply) => ply.uci), read.plies);
      const at = found.at < Math.max(count, table.plies.length) ? moveName(table.start, found.at) : '';
      setText(against, count === 0 ? '' : table.plies.length === 0 ? t('sheet.against.none') : t(`sheet.against.${found.kind}`, { n: table.plies.length, move: at }));
      against.classList.toggle('warn', found.kind === 'differs' || found.kind === 'shorter');
      take.disabled = Boolean(fault) || count === 0 || found.kind === 'same';
    };
    const ask = (pause = PAUSE) => {
      clearTimeout(timer);
      take.disabled = true;
      timer = setTimeout(async () => {
        asked += 1;
        const mine = asked;
        const answer = await attempt(() => readSheet(table.table, input.value));
        if (mine !== asked || !answer?.plies) return;
        read = answer;
        draw();
      }, pause);
    };
    input.addEventListener('input', () => ask());
    ask(0);
    return [
      el('p', { class: 'soft', text: `${playerText(table.players.white)} – ${playerText(table.players.black)}. ${t('sheet.hint')}` }),
      el('div', { class: 'sheet' },
        el('div', { class: 'sheet-side' }, el('label', { class: 'field' }, el('span', { text: t('sheet.label') }), input), state, echo, meant, against),
        el('figure', {}, picture, caption)),
      el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close() } }), take),
    ];
  }, { wide: true });
  if (plies) await attempt(() => correct(table.table, { what: 'typed', plies }), t('done.corrected'), { undo: () => correct(table.table, { what: 'undo' }) });
}
