// The round: before it a check list by table and the pairings; after it the results, what is missing,
// and the sheets and files.

import { el, fill, icon, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { playerText, reasonText, resultText } from '../shared/people.js';
import { batch } from '../shared/store.js';
import { concerns } from './alert.js';
import { order } from './api.js';
import { CHECKS, checks } from './checks.js';
import { attempt, confirm } from './dialogs.js';
import { confirmResult } from './results.js';
import { importFiles, Waiting } from './imports.js';

/** Nobody signs for a game that nobody played, or that is not over. */
const UNPLAYED = new Set(['+:-', '-:+', '-:-', 'adj']);
const SHEETS = ['pairings', 'check', 'matches', 'summary', 'report'];

export class RoundView {
  constructor(context) {
    this.context = context;
    const { may } = context;
    this.checkBody = el('tbody');
    this.summary = el('p', { class: 'round-summary', role: 'status' });
    this.results = el('ul', { class: 'results' });
    this.afterText = el('p', { class: 'round-summary' });
    this.files = el('div', { class: 'buttons' });
    this.begun = el('span', { class: 'chip' });
    const input = el('input', { type: 'file', accept: '.pgn,.trf,.trfx,.txt,.csv', multiple: true, class: 'sr', id: 'import-file', on: { change: () => { importFiles(context, [...input.files]); input.value = ''; } } });
    this.drop = el('label', { class: 'drop', for: 'import-file' }, icon('file'), el('span', { text: t('import.drop') }));
    const heads = el('tr', {}, el('th', { scope: 'col', text: t('check.table') }), CHECKS.map((name) => el('th', { scope: 'col', text: t(`check.${name}`) })));
    this.root = el('div', { class: 'round-view' },
      el('div', { class: 'table-head' }, this.heading = el('h1'), this.begun, el('a', { class: 'button', href: '#/event', text: t('event.more') })),
      (this.waiting = may.round ? new Waiting(context) : null)?.root,
      el('div', { class: 'round-grid' },
        el('section', { class: 'box', 'aria-label': t('before') }, el('h2', { text: t('before') }), this.summary,
          el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('before') }, el('table', { class: 'checks' }, el('thead', {}, heads), this.checkBody)),
          el('div', { class: 'buttons' }, may.round && el('button', { type: 'button', class: 'button primary', text: t('round.start'), on: { click: () => this.#start() } }),
            el('a', { class: 'button', href: '#/print/check' }, icon('print'), el('span', { text: t('print.tab.check') })))),
        el('section', { class: 'box', 'aria-label': t('after') }, el('h2', { text: t('after') }), this.afterText,
          el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('after') }, this.results),
          may.round && el('div', { class: 'buttons' }, el('button', { type: 'button', class: 'button', text: t('round.close'), on: { click: () => this.#close() } }))),
        may.round && el('section', { class: 'box', 'aria-label': t('import') }, el('h2', { text: t('import') }), el('p', { class: 'soft', text: t('import.hint') }), input, this.drop),
        el('section', { class: 'box', 'aria-label': t('print.sheets') }, el('h2', { text: t('print.sheets') }),
          el('div', { class: 'buttons' }, SHEETS.map((name) => el('a', { class: 'button', href: `#/print/${name}` }, icon('print'), el('span', { text: t(`print.tab.${name}`) }))),
            el('a', { class: 'button', href: '#/print/score/all' }, icon('print'), el('span', { text: t('print.tab.scores') }))),
          this.files)));
    if (may.round) this.#dropAnywhere();
    this.later = batch(() => this.refresh());
    this.unsubscribe = context.store.subscribe((kind) => { if (['snapshot', 'table', 'tables', 'alert', 'result', 'round'].includes(kind)) this.later('x'); });
    this.refresh();
  }

  close() {
    this.unsubscribe();
    this.waiting?.close();
  }

  /** A file may be let go anywhere on the page. */
  #dropAnywhere() {
    const over = (on) => this.drop.classList.toggle('over', on);
    this.root.addEventListener('dragover', (event) => { event.preventDefault(); over(true); });
    this.root.addEventListener('dragleave', (event) => { if (!this.root.contains(event.relatedTarget)) over(false); });
    this.root.addEventListener('drop', (event) => {
      event.preventDefault();
      over(false);
      importFiles(this.context, [...event.dataTransfer.files]);
    });
  }

  async #start() {
    const bad = this.context.store.sorted().filter((table) => checks(table).some(([, fine]) => fine === false));
    const extra = bad.length > 0 ? el('p', { class: 'warn', text: t('round.start.not-ready', { n: bad.length, tables: bad.map((table) => table.table).join(', ') }) }) : null;
    if (await confirm(t('round.start'), t('round.start.text'), { extra: [extra] })) await attempt(() => order({ do: 'start-round' }), t('done.entry', { what: t('round.start') }));
  }

  /** Closing shows first what is still open. */
  async #close() {
    const tables = this.context.store.sorted();
    const list = (name, some) => some.length > 0 && el('p', { class: 'warn', text: t(`round.close.${name}`, { n: some.length, tables: some.map((table) => table.table).join(', ') }) });
    const extra = [
      list('missing', tables.filter((table) => !table.result)),
      list('proposed', tables.filter((table) => table.result?.state === 'proposed')),
      list('adjourned', tables.filter((table) => table.result?.value === 'adj')),
      list('unsigned', tables.filter((table) => table.result?.state === 'final' && table.signed === false && !UNPLAYED.has(table.result.value))),
    ].filter(Boolean);
    if (await confirm(t('round.close'), extra.length ? '' : t('after.complete'), { extra, danger: extra.length > 0 })) await attempt(() => order({ do: 'close-round' }), t('done.entry', { what: t('round.close') }));
  }

  refresh() {
    const { store } = this.context;
    const tables = store.sorted();
    setText(this.heading, store.round?.number ? t('round', { n: store.round.number }) : t('round-view'));
    this.begun.hidden = tables.length === 0;
    setText(this.begun, t('map.legend', { playing: tables.filter((table) => table.status === 'playing' && !table.result).length, ended: tables.filter((table) => table.result || table.status === 'ended').length, waiting: tables.filter((table) => !table.result && (table.status === 'waiting' || table.status === 'armed')).length }));
    let ready = 0;
    fill(this.checkBody, tables.map((table) => {
      const list = checks(table);
      const fine = list.every(([, good]) => good !== false);
      if (fine) ready += 1;
      return el('tr', { class: fine ? null : 'not-ready' }, el('th', { scope: 'row' }, el('a', { href: `#/table/${table.table}`, text: String(table.table) }), el('span', { class: 'soft', text: ` ${playerText(table.players.white)} – ${playerText(table.players.black)}` })),
        list.map(([name, good]) => el('td', { class: good === null ? 'unknown' : good ? 'good' : 'bad' }, el('span', { 'aria-hidden': 'true', text: good === null ? '–' : good ? '✓' : '✗' }), el('span', { class: 'sr', text: `${t(`check.${name}`)}: ${t(good === null ? 'check.unknown' : good ? 'check.good' : 'check.bad')}` }))));
    }));
    setText(this.summary, tables.length ? t('check.summary', { n: ready, total: tables.length }) : t('hall.empty'));
    this.#after(tables);
    const round = store.round?.number || 'current';
    if (this.filesRound !== round) {
      this.filesRound = round;
      const file = (href, label) => el('a', { class: 'button', href, download: true }, icon('download'), el('span', { text: label }));
      fill(this.files, file(`/round/${round}/games.pgn`, t('download-all')), file('/api/v1/incidents?format=csv', t('print.log-csv')));
    }
  }

  /** Results by table, those that need a person first. */
  #after(tables) {
    const rank = (table) => (table.result?.state === 'proposed' ? 0 : table.result ? 2 : 1);
    const missing = tables.filter((table) => table.result?.state !== 'final');
    setText(this.afterText, tables.length === 0 ? '' : missing.length ? t('after.missing', { n: missing.length }) : t('after.complete'));
    fill(this.results, [...tables].sort((a, b) => rank(a) - rank(b) || a.table - b.table).map((table) => {
      const { result } = table;
      return el('li', { class: result?.state === 'final' ? 'final' : null }, el('a', { href: `#/table/${table.table}` }, el('b', { text: String(table.table) }), el('span', { text: `${playerText(table.players.white)} – ${playerText(table.players.black)}` }),
        el('small', { class: 'soft', text: result ? [reasonText(result.reason), result.state === 'proposed' && t('proposed')].filter(Boolean).join(' · ') : t(`state.${table.status}`) })),
      result && el('span', { class: `result ${result.state === 'proposed' ? 'proposed' : ''}`, text: resultText(result.value) }),
      result?.state === 'proposed' && this.context.may.enter && concerns(this.context, table.table) && el('button', { type: 'button', class: 'button', text: t('confirm'), 'aria-label': `${t('confirm')}: ${t('table', { n: table.table })}, ${resultText(result.value)}`, on: { click: () => confirmResult(table, result.value) } }));
    }));
  }
}
