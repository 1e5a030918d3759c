// The log: what was entered, corrected and resolved, and every alert with what became of it, newest
// first, and as files for the report.

import { el, fill, icon } from '../shared/dom.js';
import { has, lang, ownText, t, timeOfDay } from '../shared/i18n.js';
import { resultText } from '../shared/people.js';
import { pref, setPref } from '../shared/prefs.js';
import { batch } from '../shared/store.js';
import { momentOf } from './alert.js';
import { incidents } from './api.js';
import { attempt } from './dialogs.js';

/** Words of acts that have a button of the same meaning. */
const WORDS = {
  acknowledge: 'log.acknowledge', resolve: 'log.resolve', result: 'log.result', claim: 'log.claim', incident: 'log.incident', reopen: 'log.reopen', pause: 'log.pause', resign: 'log.resign',
  'draw-offer': 'entry.draw-offer', 'draw-accept': 'entry.draw-agreed', 'draw-reject': 'entry.draw-reject', 'draw-agreed': 'entry.draw-agreed', 'touch-ruling': 'entry.touch', 'two-hands': 'entry.two-hands',
  'ack-flag': 'entry.flag', absent: 'entry.absent', 'report-reversed-colours': 'entry.colours', 'report-illegal-found': 'entry.illegal', 'report-clock-setting': 'entry.clock-setting', 'query-move-count': 'entry.count',
  'scoresheets-signed': 'entry.signed', adjourn: 'entry.adjourn', 'withdraw-claim': 'log.withdraw-claim', seal: 'sealed', 'promotion-piece': 'correct.promotion', rotated: 'correct.rotated', 'swap-boards': 'correct.swap',
  'start-round': 'round.start', 'close-round': 'round.close', round: 'import', event: 'log.event', table: 'log.table', bind: 'log.bind', unbind: 'log.unbind', players: 'names', typed: 'log.typed', resume: 'adjourn.resume', 'new-game': 'log.new-game', 'section-round': 'import', 'start-section': 'round.start', 'close-section': 'round.close', delay: 'log.delay', mute: 'log.mute',
};
const FILTERS = {
  all: () => true,
  entered: (row) => !row.alert,
  alerts: (row) => Boolean(row.alert),
};

/** An old and a new value, as a change is logged. */
const change = (value) => `${value[0] ?? '–'} → ${value[1] ?? '–'}`;

const side = (value) => (value === 'white' || value === 'w' ? t('white') : value === 'black' || value === 'b' ? t('black') : String(value));

/** The values of an entry in the order they stand, in words where there are some. */
function factsOf(body, alerts, table) {
  const facts = [];
  for (const [key, value] of Object.entries(body)) {
    if (['act', 'what', 'do', 'table'].includes(key) || value === null || value === '') continue;
    if (key === 'alert') { const known = alerts.get(`${table} ${value}`); if (known) facts.push(ownText(known.text)); }
    else if (key === 'side') facts.push(side(value));
    else if (key === 'result') facts.push(resultText(value));
    else if (key === 'kind') facts.push(has(`claim.kind.${value}`) ? t(`claim.kind.${value}`) : String(value));
    else if (key === 'ruling') facts.push(has(`touch.${value}`) ? t(`touch.${value}`) : String(value));
    else if (key === 'code') facts.push(codeText(value));
    else if (key === 'muted') facts.push(t(value ? 'log.mute.on' : 'log.mute.off'));
    else if (key === 'index') facts.push(t('log.move', { n: Math.floor(value / 2) + 1, side: t(value % 2 ? 'black' : 'white') }));
    else if (key === 'plies' && Array.isArray(value)) facts.push(value.length > 6 ? t('log.plies', { n: value.length }) : value.join(' '));
    else if (Array.isArray(value) && value.length === 2 && value.every((item) => item === null || typeof item !== 'object') && key !== 'plies') facts.push(`${key}: ${change(value)}`);
    else if (Array.isArray(value)) facts.push(value.filter((item) => typeof item !== 'object').join(', '));
    else if (typeof value === 'object') facts.push(...factsOf(value, alerts, table));
    else facts.push(String(value));
  }
  return facts.filter(Boolean);
}

/** The kind of an alert in words. */
export function codeText(code) {
  return has(`code.${code}`) ? t(`code.${code}`) : String(code).replaceAll('-', ' ');
}

/** The log's rows, oldest first: an alert is one row with its latest state. */
export function rowsOf(log) {
  const rows = [];
  const alerts = new Map();
  const known = new Map();
  for (const incident of log) {
    const at = typeof incident.at === 'number' ? incident.at : Date.parse(incident.at);
    const base = { at, table: incident.table ?? null, by: incident.by ?? '', players: [incident.white, incident.black].filter(Boolean).join(' – ') };
    if (incident.alert && typeof incident.alert === 'object') {
      const { alert } = incident;
      alerts.set(`${incident.table} ${alert.id}`, alert);
      const key = `${incident.round} ${incident.table} ${alert.id} ${alert.at}`;
      const first = known.get(key);
      if (first) { first.alert = alert; continue; }
      const row = { ...base, alert, facts: [] };
      known.set(key, row);
      rows.push(row);
      continue;
    }
    const body = incident.entry ?? incident.correction ?? incident.command ?? {};
    const name = body.act ?? body.what ?? body.do ?? incident.kind ?? '';
    const title = has(WORDS[name]) ? t(WORDS[name]) : has(`log.${name}`) ? t(`log.${name}`) : String(name).replaceAll('-', ' ');
    const facts = factsOf(body, alerts, incident.table);
    if (typeof incident.note === 'string') facts.push(incident.note);
    rows.push({ ...base, name, title, facts });
  }
  return rows;
}

function words(row) {
  return row.alert ? [ownText(row.alert.text), t(`state.alert.${row.alert.state}`)] : [row.title, ...row.facts];
}

export class LogView {
  #all = [];

  constructor(context) {
    this.context = context;
    this.search = el('input', { type: 'search', placeholder: t('log.search'), 'aria-label': t('log.search'), on: { input: () => this.draw() } });
    this.filters = Object.keys(FILTERS).map((name) => el('button', { type: 'button', 'data-filter': name, text: t(`log.filter.${name}`), on: { click: () => setPref('logFilter', name) } }));
    this.list = el('ol', { class: 'log' });
    this.none = el('p', { class: 'empty', hidden: true, text: t('log.none') });
    const file = (format, label) => el('a', { class: 'button', href: `/api/v1/incidents?format=${format}&lang=${lang}`, download: `incidents.${format}` }, icon('download'), el('span', { text: label }));
    this.root = el('div', { class: 'log-view' }, el('h1', { text: t('log') }),
      el('div', { class: 'tools' }, this.search, el('div', { class: 'segments', role: 'group', 'aria-label': t('log') }, this.filters),
        el('a', { class: 'button', href: '#/print/report' }, icon('print'), el('span', { text: t('report') })), file('csv', 'CSV'), file('md', 'Markdown')), this.list, this.none);
    this.later = batch(() => this.#load());
    this.unsubscribe = context.store.subscribe((kind) => { if (kind === 'incident' || kind === 'snapshot') this.later('x'); });
    this.#load();
  }

  close() {
    this.unsubscribe();
  }

  refresh() {
    this.draw();
  }

  /** A busy hall writes often: one request at a time, and at most one a second. */
  async #load() {
    if (this.loading) { this.again = true; return; }
    this.loading = true;
    const all = await attempt(() => incidents());
    if (Array.isArray(all)) { this.#all = rowsOf(all); this.draw(); }
    setTimeout(() => { this.loading = false; if (this.again) { this.again = false; this.#load(); } }, 1000);
  }

  draw() {
    const wanted = this.search.value.trim().toLocaleLowerCase();
    const name = Object.hasOwn(FILTERS, pref('logFilter', 'all')) ? pref('logFilter', 'all') : 'all';
    for (const button of this.filters) button.setAttribute('aria-pressed', String(button.dataset.filter === name));
    const rows = [];
    for (const row of [...this.#all].reverse()) {
      if (!FILTERS[name](row)) continue;
      const line = [row.table && t('table', { n: row.table }), row.players, ...words(row), row.by].filter(Boolean).join(' ').toLocaleLowerCase();
      if (wanted && !line.includes(wanted)) continue;
      rows.push(this.#row(row));
      if (rows.length >= 400) break;
    }
    fill(this.list, rows);
    this.none.hidden = rows.length > 0;
    this.none.textContent = t(wanted || name !== 'all' ? 'log.nothing-fits' : 'log.none');
  }

  #row(row) {
    const { alert } = row;
    const place = row.table ? el('a', { class: 'table-link', href: `#/table/${row.table}`, text: String(row.table), 'aria-label': t('table', { n: row.table }), title: row.players || null }) : el('span');
    const time = el('time', { text: Number.isFinite(row.at) ? timeOfDay(row.at) : '' });
    if (alert) {
      return el('li', { class: `from-alert s-${alert.severity}` }, time, place,
        el('div', {}, el('a', { href: `#/table/${row.table}/trace?at=${momentOf(alert)}&alert=${alert.id}`, text: ownText(alert.text) })),
        el('span', { class: `chip ${alert.state}`, text: alert.audience === 'arbiter-silent' ? t('silent') : t(`state.alert.${alert.state}`) }));
    }
    return el('li', {}, time, place, el('div', {}, el('b', { text: row.title }), row.facts.length > 0 && el('span', { text: ` ${row.facts.join(' · ')}` })), el('span', { class: 'soft', text: row.by }));
  }
}
