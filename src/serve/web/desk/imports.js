// Pairings from a file: read by the daemon, shown with every repair, set up only when a person says so.

import { el, fill } from '../shared/dom.js';
import { has, t } from '../shared/i18n.js';
import { playerText } from '../shared/people.js';
import { fetchJson, order, post, readImport } from './api.js';
import { askText, attempt, openDialog, toast } from './dialogs.js';

/** How often (ms) it is asked whether a file came. */
const EVERY = 4000;

/** What was mended, in words, with its line in the file. */
export function noteText({ line, issue, ...values }) {
  const words = has(`issue.${issue}`) ? t(`issue.${issue}`, values) : [issue, ...Object.values(values)].join(' ');
  return line ? `${t('import.line', { n: line })}: ${words}` : words;
}

/** The tables of a draft as the order takes them. */
export function tablesOf(draft) {
  return (draft.pairings ?? []).map(({ board, table, white, black, start }) => ({ table: table ?? board, white: white ?? {}, black: black ?? {}, ...(start ? { start } : {}) }));
}

/** The round as it would be ordered: the daemon's own, with boards kept, or made of the draft. */
function roundIn(context, { draft = {}, round }) {
  return round ?? { number: draft.round ?? (context.store.round?.number ?? 0) + 1, ...(draft.date ? { date: draft.date } : {}), tables: tablesOf(draft) };
}

/** Shows what was read; resolves with `true` when it is to be taken. `file` names where it comes from. */
export function showDraft(context, found, file = '') {
  const { notes = [] } = found;
  const { number, tables } = roundIn(context, found);
  const byes = found.byes ?? found.draft?.byes ?? [];
  const running = context.store.sorted().filter((table) => table.status === 'playing' && table.result?.state !== 'final').length;
  const rated = (player) => el('span', {}, el('span', { text: playerText(player) }), (player.rating || player.federation || player.team) && el('small', { class: 'soft', text: ` ${[player.rating, player.federation, player.team].filter(Boolean).join(' · ')}` }));
  return openDialog(t('import.confirm'), (close) => [
    el('p', { text: t('import.found', { n: tables.length, round: number }) }),
    file && el('p', { class: 'soft', text: file }),
    running > 0 && el('p', { class: 'warn', text: t('import.running', { n: running }) }),
    notes.length > 0 ? el('section', { class: 'repairs-box', 'aria-label': t('import.repairs') }, el('h3', { text: t('import.repairs') }), el('ul', { class: 'repairs', tabindex: '0' }, notes.map((note) => el('li', { text: noteText(note) }))))
      : el('p', { class: 'soft', text: t('import.no-repairs') }),
    el('ol', { class: 'pairings', tabindex: '0' }, tables.map((table) => el('li', {}, el('b', { text: String(table.table) }), el('div', {}, rated(table.white), el('span', { class: 'soft', text: ' – ' }), rated(table.black))))),
    byes.length > 0 && el('p', { class: 'soft', text: t('import.byes', { names: byes.map((bye) => bye.player?.name ?? bye.name ?? '').filter(Boolean).join(', ') }) }),
    el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close(false) } }),
      el('button', { type: 'button', class: 'button primary', text: t('import.take'), disabled: tables.length === 0, on: { click: () => close(true) } })),
  ], { wide: true });
}

/** Ends of the names of tournament reports, which a list of pairs may go with. */
const REPORT = /\.(trf|trfx)$/i;

/**
 * Reads the files that were dropped together: one file of pairings, or a tournament report (TRF) with the
 * list of pairs its program wrote beside it. Shows what is in it, and sets the round up when that is confirmed.
 */
export async function importFiles(context, files) {
  const [first, second] = [...files].sort((a, b) => REPORT.test(b.name) - REPORT.test(a.name));
  if (!first) return;
  if (files.length > 2 || (second && !REPORT.test(first.name))) {
    toast(t('import.one-by-one'), { bad: true });
    return;
  }
  const file = first;
  const list = second ? await second.text() : null;
  let found = null;
  try {
    found = await readImport(file, { list });
  } catch (refused) {
    // The file holds several rounds: only a person can say which.
    const which = /say which/.test(refused.message) ? await askText(t('import'), t('import.which', { why: refused.message }), { yes: t('import.read'), required: true }) : null;
    if (which) found = await attempt(() => readImport(file, { round: Number.parseInt(which, 10) || 0, list }));
    else if (which === null) toast(t('refused', { why: refused.message || t('no-answer') }), { bad: true });
  }
  if (!found || !(await showDraft(context, found, file.name))) return;
  const round = roundIn(context, found);
  await attempt(() => order({ do: 'round', round }), t('import.done', { n: round.tables.length }));
}

/** Files that came by themselves, into the watched folder or from another desk, and wait for a person. */
export class Waiting {
  #shown = '';

  constructor(context) {
    this.context = context;
    this.list = el('ul', { class: 'waiting' });
    this.root = el('section', { class: 'box waiting-box', hidden: true, 'aria-label': t('import.waiting') }, el('h2', { text: t('import.waiting') }), this.list);
    this.timer = setInterval(() => this.load(), EVERY);
    this.load();
  }

  close() {
    clearInterval(this.timer);
  }

  async load() {
    let all;
    try { all = await fetchJson('/imports'); } catch { return; }
    const waiting = (Array.isArray(all) ? all : []).filter((one) => one.state === 'pending' || one.state === 'refused').slice(0, 12);
    const key = JSON.stringify(waiting.map((one) => [one.id, one.state]));
    if (key === this.#shown) return;
    this.#shown = key;
    this.root.hidden = waiting.length === 0;
    fill(this.list, waiting.map((one) => el('li', {},
      el('div', {}, el('b', { text: one.file }), el('span', { class: 'soft', text: one.state === 'refused' ? t('import.refused', { why: one.notes.map(noteText).join('; ') }) : [t('import.found', { round: one.round?.number ?? '?', n: one.round?.tables.length ?? 0 }), t('import.noted', { n: one.notes.length }), one.section].filter(Boolean).join(' · ') })),
      el('div', { class: 'buttons' },
        one.state === 'pending' && el('button', { type: 'button', class: 'button primary', text: t('import.look'), on: { click: () => this.#look(one) } }),
        el('button', { type: 'button', class: 'button', text: t('import.dismiss'), on: { click: () => this.#settle(one, 'dismiss', t('import.dismissed')) } })))));
  }

  async #look(one) {
    if (await showDraft(this.context, one, one.file)) await this.#settle(one, 'confirm', t('import.done', { n: one.round?.tables.length ?? 0 }));
  }

  async #settle(one, how, done) {
    await attempt(() => post(`/imports/${one.id}/${how}`), done);
    await this.load();
  }
}
