// Going on with an adjourned game: the move in the envelope, and what has to agree before the clocks are
// started (Guidelines I).

import { diagram } from '../shared/board.js';
import { moveSquares, notation } from '../shared/chess.js';
import { clockText } from '../shared/clock.js';
import { el, fill, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { pref } from '../shared/prefs.js';
import { fetchJson, post } from './api.js';
import { attempt, openDialog } from './dialogs.js';
import { fenAt } from '../shared/store.js';

/** After the last key (ms) the sealed move is read. */
const PAUSE = 250;

/** Where the game stands adjourned, in words: `Black seals move 41`. */
export function adjournedText({ adjourned }) {
  if (!adjourned) return '';
  return adjourned.resuming ? t('adjourn.resuming') : t('adjourn.seals', { side: t(adjourned.turn), n: adjourned.move_number });
}

/** Opens the envelope: checks the written move as it is typed, shows what has to agree, goes on. */
export async function resumeDialog(table) {
  const check = await attempt(() => fetchJson(`/tables/${table.table}/resumption`));
  if (!check) return;
  const fen = check.fen ?? fenAt(table);
  const sealed = await openDialog(t('adjourn.resume'), (close) => {
    const input = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', placeholder: t('move.example'), autofocus: true });
    const note = el('p', { class: 'sheet-state', role: 'status' });
    const picture = el('div', { class: 'preview' });
    const go = el('button', { type: 'button', class: 'button primary', text: t('adjourn.go'), on: { click: () => close({ sealed: input.value.trim() || null }) } });
    let timer = null;
    let asked = 0;
    const show = (shown, move) => fill(picture, diagram(shown, { label: move ?? t('adjourn.position'), marks: { last: move ? moveSquares(move) : [] } }));
    const read = async () => {
      const text = input.value.trim();
      asked += 1;
      const mine = asked;
      note.classList.remove('bad');
      if (!text) { setText(note, t('adjourn.sealed.none')); go.disabled = false; show(fen); return; }
      const answer = await attempt(() => fetchJson(`/tables/${table.table}/sealed?move=${encodeURIComponent(text)}`));
      if (mine !== asked || !answer) return;
      go.disabled = !answer.legal;
      note.classList.toggle('bad', !answer.legal);
      setText(note, answer.legal ? t('adjourn.sealed.legal', { move: notation(answer.san, pref('notation', 'en')) }) : t('adjourn.sealed.wrong'));
      note.title = answer.legal ? '' : answer.fault ?? '';
      show(answer.legal ? answer.fen : fen, answer.legal ? answer.uci : null);
    };
    input.addEventListener('input', () => { clearTimeout(timer); go.disabled = true; timer = setTimeout(read, PAUSE); });
    const times = ([white, black]) => `${clockText(white)} / ${clockText(black)}`;
    const mark = (fine) => (fine === null || fine === undefined ? '–' : fine ? '✓' : '✗');
    const row = (name, fine, text) => el('div', { class: fine === false ? 'warn' : null }, el('dt', { text: t(`adjourn.${name}`) }), el('dd', { text: [mark(fine), text].filter(Boolean).join(' ') }));
    read();
    return [
      el('p', { class: 'soft', text: adjournedText({ adjourned: check.adjourned }) }),
      el('div', { class: 'sheet' }, el('div', { class: 'sheet-side' },
        el('label', { class: 'field' }, el('span', { text: t('adjourn.sealed') }), input), note,
        el('dl', { class: 'counts' },
          row('board', check.position, check.squares?.length ? check.squares.join(' ') : ''),
          row('clock', check.clock, check.expected_seconds ? t('adjourn.times', { expected: times(check.expected_seconds), shown: times(check.shown_seconds ?? [null, null]) }) : ''))),
      el('figure', {}, picture)),
      el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close() } }), go),
    ];
  }, { wide: true });
  if (sealed) await attempt(() => post(`/tables/${table.table}/resume`, sealed.sealed ? { sealed: sealed.sealed } : {}), t('done.entry', { what: t('adjourn.resume') }));
}
