// The log: what was entered, corrected and resolved, newest first, and as files for the report.

import { el, fill, icon } from '../shared/dom.js';
import { has, t, timeOfDay } from '../shared/i18n.js';
import { batch } from '../shared/store.js';
import { incidents } from './api.js';
import { attempt } from './dialogs.js';

const HEAD = new Set(['at', 'table', 'round', 'white', 'black', 'by', 'kind']);

/** One entry in a line of words. */
export function incidentText(incident) {
  const body = incident.entry ?? incident.correction ?? incident.command ?? {};
  const name = body.act ?? body.what ?? body.do ?? incident.kind ?? '';
  const title = has(`log.${name}`) ? t(`log.${name}`) : String(name).replaceAll('-', ' ');
  const facts = [];
  const walk = (value) => {
    for (const [key, item] of Object.entries(value)) {
      if (['act', 'what', 'do', 'table', 'alert'].includes(key) || item === null) continue;
      if (typeof item === 'object') walk(item);
      else facts.push(has(String(item)) && (item === 'white' || item === 'black') ? t(item) : String(item));
    }
  };
  walk(body);
  for (const [key, item] of Object.entries(incident)) if (!HEAD.has(key) && !['entry', 'correction', 'command'].includes(key) && item !== null) facts.push(typeof item === 'object' ? JSON.stringify(item) : String(item));
  return { title, facts: facts.filter(Boolean).join(' · ') };
}

export class LogView {
  #all = [];

  constructor(context) {
    this.context = context;
    this.search = el('input', { type: 'search', placeholder: t('log.search'), 'aria-label': t('log.search'), on: { input: () => this.draw() } });
    this.list = el('ol', { class: 'log' });
    this.none = el('p', { class: 'empty', hidden: true, text: t('log.none') });
    const file = (format, label) => el('a', { class: 'button', href: `/api/v1/incidents?format=${format}`, download: `incidents.${format}` }, icon('download'), el('span', { text: label }));
    this.root = el('div', { class: 'log-view' }, el('h1', { text: t('log') }),
      el('div', { class: 'tools' }, this.search, file('csv', 'CSV'), file('md', 'Markdown'), file('html', 'HTML')), this.list, this.none);
    this.later = batch(() => this.#load());
    this.unsubscribe = context.store.subscribe((kind) => { if (kind === 'incident' || kind === 'snapshot') this.later('x'); });
    this.#load();
  }

  close() {
    this.unsubscribe();
  }

  async #load() {
    const all = await attempt(() => incidents());
    if (Array.isArray(all)) { this.#all = all; this.draw(); }
  }

  draw() {
    const wanted = this.search.value.trim().toLocaleLowerCase();
    const rows = [];
    for (const incident of [...this.#all].reverse()) {
      const { title, facts } = incidentText(incident);
      const line = [incident.table && t('table', { n: incident.table }), incident.white, incident.black, title, facts, incident.by].filter(Boolean).join(' ').toLocaleLowerCase();
      if (wanted && !line.includes(wanted)) continue;
      const at = typeof incident.at === 'number' ? incident.at : Date.parse(incident.at);
      rows.push(el('li', {}, el('time', { text: Number.isFinite(at) ? timeOfDay(at) : '' }),
        incident.table ? el('a', { href: `#/table/${incident.table}`, text: String(incident.table), 'aria-label': t('table', { n: incident.table }) }) : el('span'),
        el('div', {}, el('b', { text: title }), facts && el('span', { text: ` ${facts}` })), el('span', { class: 'soft', text: incident.by ?? '' })));
      if (rows.length >= 400) break;
    }
    fill(this.list, rows);
    this.none.hidden = rows.length > 0;
  }
}

