// An operator's corrections of a game: each is shown before it is done, and can be taken back.

import { diagram } from '../shared/board.js';
import { notation, plyNumber } from '../shared/chess.js';
import { el, fill } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { playerText } from '../shared/people.js';
import { pref } from '../shared/prefs.js';
import { fenAt } from '../shared/store.js';
import { correct, order } from './api.js';
import { attempt, confirm, openDialog } from './dialogs.js';
import { MovePicker } from './picker.js';

function send(table, correction, done) {
  return attempt(() => correct(table.table, correction), done, { undo: () => correct(table.table, { what: 'undo' }) });
}

/** A ply as text: `12… Nf6`. */
export function plyText(table, index) {
  const ply = table.plies[index];
  if (!ply) return '';
  const { move, black } = plyNumber(table.start, index);
  return `${move}${black ? '…' : '.'} ${notation(ply.san, pref('notation', 'en'))}`;
}

async function chooseMove(title, fen, text, yes) {
  return openDialog(title, (close) => {
    const ready = el('button', { type: 'button', class: 'button primary', text: yes, disabled: true, on: { click: () => close(picker.uci) } });
    const picker = new MovePicker(fen, { anyMove: true, changed: () => { ready.disabled = !picker.uci; } });
    return [text && el('p', { text }), picker.root,
      el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close() } }), ready)];
  }, { wide: true });
}

export async function replacePly(table, index) {
  const uci = await chooseMove(t('correct.replace'), table.plies[index]?.origin ?? fenAt(table, index - 1), t('correct.replace.text', { move: plyText(table, index) }), t('correct.replace'));
  if (uci) await send(table, { what: 'replace-ply', index, uci }, t('done.corrected'));
}

export async function insertPly(table, index) {
  const uci = await chooseMove(t('correct.insert'), fenAt(table, index - 1), index < table.plies.length ? t('correct.insert.text', { move: plyText(table, index) }) : t('correct.append.text'), t('correct.insert'));
  if (uci) await send(table, { what: 'insert-ply', index, uci }, t('done.corrected'));
}

export async function appendPly(table) {
  const uci = await chooseMove(t('correct.append'), fenAt(table), t('correct.append.text'), t('correct.append'));
  if (uci) await send(table, { what: 'append', plies: [uci] }, t('done.corrected'));
}

export async function deletePly(table, index) {
  if (await confirm(t('correct.delete'), t('correct.delete.text', { move: plyText(table, index) }), { danger: true })) await send(table, { what: 'delete-ply', index }, t('done.corrected'));
}

export async function setPosition(table) {
  const position = await openDialog(t('correct.position'), (close) => {
    const sensed = table.sensed;
    const turn = fenAt(table).split(' ')[1] ?? 'w';
    const input = el('input', { type: 'text', spellcheck: 'false', value: sensed ? `${sensed} ${turn} - - 0 ${Math.max(1, Math.ceil((table.plies.length + 1) / 2))}` : fenAt(table) });
    const picture = el('div', { class: 'preview' });
    const draw = () => fill(picture, diagram(input.value, { label: input.value }));
    input.addEventListener('input', draw);
    const side = (letter, label) => el('button', { type: 'button', class: 'button', text: label, on: { click: () => { const fields = input.value.split(' '); fields[1] = letter; input.value = fields.join(' '); draw(); } } });
    draw();
    return [el('p', { text: t('correct.position.text') }), picture,
      el('label', { class: 'field' }, el('span', { text: 'FEN' }), input),
      el('div', { class: 'buttons' }, side('w', t('white-to-move')), side('b', t('black-to-move')),
        el('button', { type: 'button', class: 'button', text: t('correct.position.record'), on: { click: () => { input.value = fenAt(table); draw(); } } })),
      el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close() } }),
        el('button', { type: 'button', class: 'button primary', text: t('correct.position'), on: { click: () => close(input.value.trim() + (table.chess960 && !input.value.trim().endsWith(' 960') ? ' 960' : '')) } }))];
  });
  if (position) await send(table, { what: 'set-position', position }, t('done.corrected'));
}

export async function promotionPiece(table) {
  const role = await openDialog(t('correct.promotion'), (close) => el('div', { class: 'sides' }, [...'qrbn'].map((letter) => el('button', { type: 'button', class: 'button', text: notation(letter.toUpperCase(), pref('notation', 'en')), on: { click: () => close(letter) } }))));
  if (role) await send(table, { what: 'promotion-piece', role }, t('done.corrected'));
}

export async function rotate(table) {
  const rotated = !table.link?.rotated;
  if (await confirm(t('correct.rotated'), t(rotated ? 'correct.rotated.on' : 'correct.rotated.off'))) await send(table, { what: 'rotated', rotated }, t('done.corrected'));
}

export async function swapBoards(context, table) {
  const others = context.store.sorted().filter((other) => other !== table);
  const other = await openDialog(t('correct.swap'), (close) => {
    const choice = el('select', {}, others.map((one) => el('option', { value: one.table, text: `${one.table}  ${playerText(one.players.white)} – ${playerText(one.players.black)}` })));
    return [el('p', { text: t('correct.swap.text', { n: table.table }) }), el('label', { class: 'field' }, el('span', { text: t('correct.swap.with') }), choice),
      el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close() } }),
        el('button', { type: 'button', class: 'button primary', text: t('correct.swap'), on: { click: () => close(Number(choice.value)) } }))];
  });
  const swap = () => order({ do: 'swap-boards', a: table.table, b: other });
  if (other) await attempt(swap, t('done.corrected'), { undo: swap });
}

export async function undoCorrection(table) {
  if (await confirm(t('correct.undo'), t('correct.undo.text'))) await attempt(() => correct(table.table, { what: 'undo' }), t('undone'));
}

