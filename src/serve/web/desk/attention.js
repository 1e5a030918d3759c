// The main screen: what needs someone, most urgent first, and beside it the quiet list.

import { onTick } from '../shared/clock.js';
import { el, fill, setAttr, setText } from '../shared/dom.js';
import { ownText, t, timeOfDay } from '../shared/i18n.js';
import { playerText, reasonText, resultText } from '../shared/people.js';
import { batch } from '../shared/store.js';
import { AlertCard, byUrgency, concerns, isOpen, isQuiet, momentOf } from './alert.js';
import { confirmResult } from './results.js';

/** Alerts of all tables the person looks after: `{table, alert}`. */
export function openAlerts(context) {
  const list = [];
  for (const table of context.store.tables.values()) {
    if (!concerns(context, table.table)) continue;
    for (const alert of table.alerts.values()) if (isOpen(alert)) list.push({ table, alert });
  }
  return list.sort(byUrgency);
}

/** How many call for someone and nobody has seen. */
export function openCount(context) {
  return openAlerts(context).filter(({ alert }) => alert.state === 'open' && !isQuiet(alert)).length;
}

export class AttentionView {
  #cards = new Map();
  #rows = new Map();

  constructor(context) {
    this.context = context;
    this.list = el('div', { class: 'alerts' });
    this.none = el('div', { class: 'calm', hidden: true }, el('p', { class: 'calm-word', text: t('calm') }), this.calmText = el('p', { class: 'soft' }));
    this.quiet = el('ul', { class: 'quiet' });
    this.quietEmpty = el('p', { class: 'soft', text: t('quiet.none') });
    this.root = el('div', { class: 'attention' },
      el('section', { 'aria-labelledby': 'attention-title', 'aria-live': 'polite', 'aria-relevant': 'additions' }, el('h1', { id: 'attention-title', class: 'sr', text: t('attention') }), this.list, this.none),
      el('div', { class: 'aside' },
        this.mapBox = el('section', { 'aria-labelledby': 'map-title', hidden: true }, el('h2', { id: 'map-title', text: t('tables-map') }), this.map = el('ul', { class: 'map' }), this.mapText = el('p', { class: 'soft' })),
        this.confirmBox = el('section', { 'aria-labelledby': 'confirm-title', hidden: true }, el('h2', { id: 'confirm-title', text: t('to-confirm') }), this.proposed = el('ul', { class: 'proposals' })),
        el('section', { 'aria-labelledby': 'quiet-title' }, el('h2', { id: 'quiet-title', text: t('quiet') }), this.quiet, this.quietEmpty)));
    this.later = batch(() => this.refresh());
    this.unsubscribe = context.store.subscribe((kind) => { if (kind === 'alert' || kind === 'snapshot' || kind === 'table' || kind === 'result') this.later('all'); });
    this.untick = onTick(() => this.tick());
    this.root.addEventListener('keydown', (event) => this.#key(event));
    this.refresh();
  }

  close() {
    this.unsubscribe();
    this.untick();
  }

  refresh() {
    const { store } = this.context;
    const all = openAlerts(this.context);
    const loud = all.filter(({ alert }) => !isQuiet(alert));
    const quiet = all.filter(({ alert }) => isQuiet(alert)).sort((a, b) => momentOf(b.alert) - momentOf(a.alert));
    this.#sync(this.list, this.#cards, loud, ({ table, alert }) => new AlertCard(this.context, table, alert), (card, { table, alert }) => card.update(table, alert));
    this.#sync(this.quiet, this.#rows, quiet.slice(0, 60), () => ({ root: el('li') }), (row, { table, alert }) => {
      if (row.alert === alert) return;
      row.alert = alert;
      row.root.className = alert.audience === 'arbiter-silent' ? 'silent' : '';
      fill(row.root, el('a', { href: `#/table/${table.table}` }, el('b', { text: String(table.table) }), el('span', { text: ownText(alert.text) }),
        el('span', { class: 'soft', text: [timeOfDay(Date.parse(alert.at)), alert.article && t('article', { n: alert.article }), alert.audience === 'arbiter-silent' && t('silent')].filter(Boolean).join(' · ') })));
    });
    this.none.hidden = loud.length > 0 || !store.ready;
    this.quietEmpty.hidden = quiet.length > 0;
    const tables = store.sorted();
    this.#drawMap(tables);
    this.#drawProposals(tables, loud);
    setText(this.calmText, t('calm.text', { n: tables.filter((table) => table.status === 'playing').length, total: tables.length }));
  }

  /** Every table as its number, coloured by what is wrong with it: the hall from above. */
  #drawMap(tables) {
    this.mapBox.hidden = tables.length === 0;
    const sum = { playing: 0, ended: 0, waiting: 0 };
    tables.forEach((table, at) => {
      const open = [...table.alerts.values()].filter((alert) => alert.state === 'open' && !isQuiet(alert));
      const worst = ['decides', 'go-now', 'look'].find((severity) => open.some((alert) => alert.severity === severity));
      const place = table.result || table.status === 'ended' ? 'ended' : table.status === 'playing' ? 'playing' : 'waiting';
      sum[place] += 1;
      const lost = place !== 'ended' && (table.link?.online === false || (table.link?.clock === false && place === 'playing'));
      let link = this.map.children[at]?.firstChild;
      if (!link) {
        link = el('a');
        this.map.append(el('li', {}, link));
      }
      const number = String(table.table);
      if (link.textContent !== number) { link.textContent = number; link.href = `#/table/${number}`; }
      setAttr(link, 'class', [place, worst, lost && 'lost'].filter(Boolean).join(' '));
      setAttr(link, 'aria-label', [t('table', { n: number }), t(`state.${table.result ? 'ended' : table.status}`), worst && t(`severity.${worst}`), lost && t('map.trouble')].filter(Boolean).join(', '));
    });
    while (this.map.children.length > tables.length) this.map.lastChild.remove();
    setText(this.mapText, t('map.legend', sum));
  }

  /** Results that wait for the arbiter's word and have no card of their own on the list. */
  #drawProposals(tables, loud) {
    const carded = new Set(loud.filter(({ alert }) => alert.severity === 'decides').map(({ table }) => table.table));
    const waiting = tables.filter((table) => table.result?.state === 'proposed' && !carded.has(table.table) && concerns(this.context, table.table));
    const key = JSON.stringify(waiting.map((table) => [table.table, table.game, table.result]));
    if (key === this.proposalsKey) return;
    this.proposalsKey = key;
    this.confirmBox.hidden = waiting.length === 0;
    fill(this.proposed, waiting.map((table) => el('li', {},
      el('a', { href: `#/table/${table.table}` }, el('b', { text: String(table.table) }), el('span', { text: `${playerText(table.players.white)} – ${playerText(table.players.black)}` }), el('span', { class: 'soft', text: reasonText(table.result.reason) })),
      el(this.context.may.enter ? 'button' : 'span', { class: this.context.may.enter ? 'button' : 'result', ...(this.context.may.enter ? { type: 'button', 'aria-label': t('confirm-result', { result: resultText(table.result.value) }), on: { click: () => confirmResult(table, table.result.value) } } : {}), text: resultText(table.result.value) }))));
  }

  /** Keeps an element a key, in the order given. */
  #sync(parent, known, items, make, update) {
    const seen = new Set();
    let before = parent.firstChild;
    for (const item of items) {
      const key = `${item.table.table} ${item.table.game} ${item.alert.id}`;
      seen.add(key);
      let entry = known.get(key);
      if (!entry) { entry = make(item); known.set(key, entry); }
      update(entry, item);
      if (entry.root === before) before = before.nextSibling;
      else parent.insertBefore(entry.root, before);
    }
    for (const [key, entry] of known) if (!seen.has(key)) { entry.root.remove(); known.delete(key); }
  }

  tick() {
    const now = this.context.store.now();
    for (const card of this.#cards.values()) card.tick(now);
  }

  /** Arrow keys go from alert to alert; the letters act on the one that holds the focus. */
  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const cards = [...this.list.children];
    const here = cards.findIndex((card) => card.contains(document.activeElement));
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const next = cards[Math.max(0, Math.min(cards.length - 1, here + (event.key === 'ArrowDown' ? 1 : -1)))];
      next?.querySelector('.alert-actions .button')?.focus();
      event.preventDefault();
    }
  }
}
