// The round: before it a check list by table and the import of pairings; after it what is missing and
// the files.

import { el, fill, icon, setText } from '../shared/dom.js';
import { has, t } from '../shared/i18n.js';
import { playerText, resultText } from '../shared/people.js';
import { batch } from '../shared/store.js';
import { order, readImport } from './api.js';
import { askText, attempt, confirm, openDialog, toast } from './dialogs.js';

/** What has to be right before the clocks are started, from what is known of a table. */
function checks(table) {
  const { link = {} } = table;
  const open = [...table.alerts.values()].filter((alert) => (alert.state === 'open' || alert.state === 'acknowledged'));
  const codes = new Set(open.map((alert) => alert.code));
  const wrongClock = ['increment-missing', 'increment-wrong', 'start-time-wrong', 'period-bonus-wrong', 'time-control-class-mismatch'].some((code) => codes.has(code));
  return [
    ['players', Boolean(table.players?.white?.name && table.players?.black?.name)],
    ['board', link.online === true],
    ['clock', link.clock === true],
    ['clock-set', link.clock === true ? !wrongClock : null],
    ['position', table.status === 'waiting' ? false : !codes.has('wrong-initial-position') && !codes.has('board-sideways')],
    ['battery', link.battery?.percent === undefined || link.battery?.percent === null ? null : link.battery.percent > 20],
  ];
}

export class RoundView {
  constructor(context) {
    this.context = context;
    this.checkBody = el('tbody');
    this.summary = el('p', { class: 'soft', role: 'status' });
    this.after = el('ul', { class: 'missing' });
    this.afterText = el('p', { class: 'soft' });
    this.files = el('div', { class: 'buttons' });
    const { may } = context;
    const input = el('input', { type: 'file', accept: '.pgn,.trf,.trfx,.txt,.csv', class: 'sr', id: 'import-file', on: { change: () => { if (input.files[0]) this.#import(input.files[0]); input.value = ''; } } });
    this.drop = el('label', { class: 'drop', for: 'import-file' }, icon('file'), el('span', { text: t('import.drop') }));
    this.drop.addEventListener('dragover', (event) => { event.preventDefault(); this.drop.classList.add('over'); });
    this.drop.addEventListener('dragleave', () => this.drop.classList.remove('over'));
    this.drop.addEventListener('drop', (event) => { event.preventDefault(); this.drop.classList.remove('over'); if (event.dataTransfer.files[0]) this.#import(event.dataTransfer.files[0]); });
    this.root = el('div', { class: 'round-view' }, el('h1', { text: t('round-view') }),
      el('section', { class: 'box' }, el('h2', { text: t('before') }), this.summary,
        el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('before') }, el('table', { class: 'checks' }, el('thead', {}, el('tr', {}, el('th', { scope: 'col', text: t('check.table') }), ['players', 'board', 'clock', 'clock-set', 'position', 'battery'].map((name) => el('th', { scope: 'col', text: t(`check.${name}`) })))), this.checkBody)),
        may.round && el('div', { class: 'buttons' }, el('button', { type: 'button', class: 'button primary', text: t('round.start'), on: { click: () => this.#order('start-round', 'round.start') } }))),
      may.round && el('section', { class: 'box' }, el('h2', { text: t('import') }), el('p', { class: 'soft', text: t('import.hint') }), input, this.drop),
      el('section', { class: 'box' }, el('h2', { text: t('after') }), this.afterText, this.after, this.files,
        may.round && el('div', { class: 'buttons' }, el('button', { type: 'button', class: 'button', text: t('round.close'), on: { click: () => this.#order('close-round', 'round.close') } }))));
    this.later = batch(() => this.refresh());
    this.unsubscribe = context.store.subscribe((kind) => { if (['snapshot', 'table', 'tables', 'alert', 'result', 'round'].includes(kind)) this.later('x'); });
    this.refresh();
  }

  close() {
    this.unsubscribe();
  }

  async #order(command, key) {
    if (await confirm(t(key), t(`${key}.text`))) await attempt(() => order({ do: command }), t('done.entry', { what: t(key) }));
  }

  refresh() {
    const tables = this.context.store.sorted();
    let ready = 0;
    fill(this.checkBody, tables.map((table) => {
      const list = checks(table);
      if (list.every(([, fine]) => fine !== false)) ready += 1;
      return el('tr', {}, el('th', { scope: 'row' }, el('a', { href: `#/table/${table.table}`, text: String(table.table) }), el('span', { class: 'soft', text: ` ${playerText(table.players.white)} – ${playerText(table.players.black)}` })),
        list.map(([name, fine]) => el('td', { class: fine === null ? 'unknown' : fine ? 'good' : 'bad' }, el('span', { 'aria-hidden': 'true', text: fine === null ? '–' : fine ? '✓' : '✗' }), el('span', { class: 'sr', text: `${t(`check.${name}`)}: ${t(fine === null ? 'check.unknown' : fine ? 'check.good' : 'check.bad')}` }))));
    }));
    setText(this.summary, t('check.summary', { n: ready, total: tables.length }));
    const missing = tables.filter((table) => table.result?.state !== 'final');
    setText(this.afterText, missing.length ? t('after.missing', { n: missing.length }) : t('after.complete'));
    fill(this.after, missing.slice(0, 200).map((table) => el('li', {}, el('a', { href: `#/table/${table.table}` }, el('b', { text: String(table.table) }), el('span', { text: `${playerText(table.players.white)} – ${playerText(table.players.black)}` }),
      el('span', { class: 'soft', text: table.result ? `${resultText(table.result.value)} ${t('proposed')}` : t(`state.${table.status}`) })))));
    const round = this.context.store.round?.number || 'current';
    if (this.filesRound !== round) {
      this.filesRound = round;
      const file = (href, label) => el('a', { class: 'button', href, download: true }, icon('download'), el('span', { text: label }));
      fill(this.files, file(`/round/${round}/games.pgn`, t('download-all')), file('/api/v1/incidents?format=html', t('report')));
    }
  }

  async #import(file) {
    let found = null;
    try {
      found = await readImport(file);
    } catch (refused) {
      // The file holds several rounds: only a person can say which.
      const which = /say which/.test(refused.message) ? await askText(t('import'), t('import.which', { why: refused.message }), { yes: t('import.read'), required: true }) : null;
      if (which) found = await attempt(() => readImport(file, Number.parseInt(which, 10) || 0));
      else if (which === null) toast(t('refused', { why: refused.message || t('no-answer') }), { bad: true });
    }
    if (!found) return;
    const { draft, notes = [] } = found;
    const tables = (draft.pairings ?? []).map(({ board, table, white, black, start }) => ({ table: table ?? board, white, black, ...(start ? { start } : {}) }));
    const number = draft.round ?? (this.context.store.round?.number ?? 0) + 1;
    const yes = await openDialog(t('import.confirm'), (close) => [
      el('p', { text: t('import.found', { n: tables.length, round: number }) }),
      notes.length > 0 && el('section', { 'aria-label': t('import.repairs') }, el('h3', { text: t('import.repairs') }), el('ul', { class: 'repairs', tabindex: '0' }, notes.map((note) => el('li', { text: noteText(note) })))),
      el('ol', { class: 'pairings', tabindex: '0' }, tables.map((table) => el('li', {}, el('b', { text: String(table.table) }), el('span', { text: `${playerText(table.white)} – ${playerText(table.black)}` })))),
      el('div', { class: 'actions' }, el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close(false) } }),
        el('button', { type: 'button', class: 'button primary', text: t('import.take'), disabled: tables.length === 0, on: { click: () => close(true) } })),
    ], { wide: true });
    if (yes) await attempt(() => order({ do: 'round', round: { number, ...(draft.date ? { date: draft.date } : {}), tables } }), t('import.done', { n: tables.length }));
  }
}

/** What was mended, in words, with its line in the file. */
function noteText({ line, issue, ...values }) {
  const words = has(`issue.${issue}`) ? t(`issue.${issue}`, values) : [issue, ...Object.values(values)].join(' ');
  return `${t('import.line', { n: line })}: ${words}`;
}
