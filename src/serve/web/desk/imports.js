// Pairings from a file: read by the daemon, shown with every repair, set up only when a person says so.

import { el } from '../shared/dom.js';
import { has, t } from '../shared/i18n.js';
import { playerText } from '../shared/people.js';
import { order, readImport } from './api.js';
import { askText, attempt, openDialog, toast } from './dialogs.js';

/** What was mended, in words, with its line in the file. */
export function noteText({ line, issue, ...values }) {
  const words = has(`issue.${issue}`) ? t(`issue.${issue}`, values) : [issue, ...Object.values(values)].join(' ');
  return line ? `${t('import.line', { n: line })}: ${words}` : words;
}

/** The tables of a draft as the order takes them. */
export function tablesOf(draft) {
  return (draft.pairings ?? []).map(({ board, table, white, black, start }) => ({ table: table ?? board, white: white ?? {}, black: black ?? {}, ...(start ? { start } : {}) }));
}

/** Shows what was read; resolves with `true` when it is to be taken. `file` names where it comes from. */
export function showDraft(context, { draft, notes = [] }, file = '') {
  const tables = tablesOf(draft);
  const number = roundOf(context, draft);
  const running = context.store.sorted().filter((table) => table.status === 'playing' && table.result?.state !== 'final').length;
  const rated = (player) => el('span', {}, el('span', { text: playerText(player) }), (player.rating || player.federation || player.team) && el('small', { class: 'soft', text: ` ${[player.rating, player.federation, player.team].filter(Boolean).join(' · ')}` }));
  return openDialog(t('import.confirm'), (close) => [
    el('p', { text: t('import.found', { n: tables.length, round: number }) }),
    file && el('p', { class: 'soft', text: file }),
    running > 0 && el('p', { class: 'warn', text: t('import.running', { n: running }) }),
    notes.length > 0 ? el('section', { class: 'repairs-box', 'aria-label': t('import.repairs') }, el('h3', { text: t('import.repairs') }), el('ul', { class: 'repairs', tabindex: '0' }, notes.map((note) => el('li', { text: noteText(note) }))))
      : el('p', { class: 'soft', text: t('import.no-repairs') }),
    el('ol', { class: 'pairings', tabindex: '0' }, tables.map((table) => el('li', {}, el('b', { text: String(table.table) }), el('div', {}, rated(table.white), el('span', { class: 'soft', text: ' – ' }), rated(table.black))))),
    el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close(false) } }),
      el('button', { type: 'button', class: 'button primary', text: t('import.take'), disabled: tables.length === 0, on: { click: () => close(true) } })),
  ], { wide: true });
}

function roundOf(context, draft) {
  return draft.round ?? (context.store.round?.number ?? 0) + 1;
}

/** Reads a file, shows what is in it, and sets the round up when that is confirmed. */
export async function importFile(context, file) {
  let found = null;
  try {
    found = await readImport(file);
  } catch (refused) {
    // The file holds several rounds: only a person can say which.
    const which = /say which/.test(refused.message) ? await askText(t('import'), t('import.which', { why: refused.message }), { yes: t('import.read'), required: true }) : null;
    if (which) found = await attempt(() => readImport(file, Number.parseInt(which, 10) || 0));
    else if (which === null) toast(t('refused', { why: refused.message || t('no-answer') }), { bad: true });
  }
  if (!found || !(await showDraft(context, found, file.name))) return;
  const { draft } = found;
  const tables = tablesOf(draft);
  await attempt(() => order({ do: 'round', round: { number: roundOf(context, draft), ...(draft.date ? { date: draft.date } : {}), tables } }), t('import.done', { n: tables.length }));
}
