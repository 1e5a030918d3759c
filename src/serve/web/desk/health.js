// What a table's line and board say of themselves, and which kinds of alerts are muted there.

import { el, fill, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { fetchJson, order } from './api.js';
import { attempt } from './dialogs.js';
import { age } from './alert.js';
import { codeText } from './log.js';

/** How often (ms) the counters of a line are asked for while they are looked at. */
const EVERY = 5000;

/** The muted kinds of a table, each with the way back. Hidden while there are none. */
export class MutedBox {
  #shown = '';

  constructor(number, may) {
    this.number = number;
    this.may = may;
    this.list = el('ul', { class: 'muted' });
    this.root = el('section', { class: 'box', hidden: true, 'aria-label': t('muted.title') }, el('h2', { text: t('muted.title') }), this.list);
  }

  update({ muted = [] }) {
    const text = muted.join();
    if (text === this.#shown) return;
    this.#shown = text;
    this.root.hidden = muted.length === 0;
    fill(this.list, muted.map((code) => el('li', {}, el('span', { text: codeText(code) }),
      this.may && el('button', { type: 'button', class: 'button', text: t('unmute'), on: { click: () => attempt(() => order({ do: 'mute', table: this.number, code, muted: false }), t('unmuted')) } }))));
  }
}

/** Link and board of a table: the state with its reason, and, opened, the counters. */
export class HealthBox {
  #shown = '';
  #asked = -Infinity;
  #data = null;

  constructor(number) {
    this.number = number;
    this.summary = el('span', { class: 'soft' });
    this.facts = el('dl', { class: 'counts' });
    this.squares = el('div', { class: 'squares', role: 'img', hidden: true });
    this.squaresText = el('p', { class: 'soft', hidden: true });
    this.root = el('details', { class: 'box health' }, el('summary', {}, el('span', { text: t('health') }), this.summary),
      this.facts, this.squaresText, this.squares);
    this.root.addEventListener('toggle', () => { this.#asked = -Infinity; });
  }

  update(table) {
    const { link = {} } = table;
    const key = JSON.stringify(link);
    this.table = table;
    if (key === this.#shown) return;
    this.#shown = key;
    const good = link.online !== false;
    setText(this.summary, [link.board ? t(good ? 'health.up' : 'health.down') : t('no-board'), link.battery?.percent !== undefined && link.battery?.percent !== null && `${link.battery.percent} %`].filter(Boolean).join(' · '));
    this.root.classList.toggle('bad', Boolean(link.board) && !good);
    this.#draw();
  }

  tick(now) {
    this.now = now;
    if (!this.root.open || performance.now() - this.#asked < EVERY) return;
    this.#asked = performance.now();
    const wanted = this.table?.link?.board;
    fetchJson('/links').then((lines) => {
      this.#data = null;
      for (const line of Array.isArray(lines) ? lines : []) {
        const board = line.boards.find((one) => one.board === wanted);
        if (board || line.port === wanted) this.#data = { line, board };
      }
      this.#draw();
    }, () => { this.#data = null; });
  }

  #draw() {
    const { link = {} } = this.table;
    const { line = {}, board = {} } = this.#data ?? {};
    const rows = [];
    const fact = (key, value, kind = '') => { if (value !== null && value !== undefined && value !== '') rows.push(el('div', { class: kind || null }, el('dt', { text: t(`health.${key}`) }), el('dd', { text: String(value) }))); };
    fact('board', [link.board, link.model].filter(Boolean).join(' · '));
    fact('port', [line.port, line.kind].filter(Boolean).join(' · '));
    fact('state', link.online === false ? [t('health.down'), link.reason ?? line.reason].filter(Boolean).join(': ') : link.board ? t('health.up') : '', link.online === false ? 'warn' : '');
    fact('since', line.since && age(line.since, this.now ?? Date.now()));
    fact('last-byte', line.last_byte && age(line.last_byte, this.now ?? Date.now()));
    fact('messages', line.messages);
    fact('dropped', line.bytes_dropped, line.bytes_dropped ? 'warn' : '');
    fact('resyncs', line.resyncs);
    fact('checksums', (line.checksum_failures ?? 0) + (board.checksum_failures ?? 0) || (line.port ? 0 : ''));
    fact('reopenings', line.reopenings);
    fact('settings', line.settings, 'warn');
    const battery = link.battery ?? board.battery;
    if (battery) fact('battery', [`${battery.percent ?? '?'} %`, battery.charging && t('health.charging'), board.battery_minutes_left && t('health.battery-left', { n: board.battery_minutes_left })].filter(Boolean).join(' · '));
    fill(this.facts, rows);
    this.#heat(board);
  }

  /** Changes by square, as the board numbers them: one that changes far more often than the others has a bad contact. */
  #heat({ square_changes: changes, square_healed: healed = [] }) {
    const some = Array.isArray(changes) && changes.some((count) => count > 0);
    this.squares.hidden = this.squaresText.hidden = !some;
    if (!some) return;
    const most = Math.max(...changes);
    setText(this.squaresText, t('health.squares'));
    this.squares.setAttribute('aria-label', t('health.squares'));
    fill(this.squares, changes.map((count, at) => {
      const cell = el('span', { text: count ? String(count) : '', title: `${'abcdefgh'[at % 8]}${8 - (at >> 3)}: ${count}${healed[at] ? ` (${t('health.healed', { n: healed[at] })})` : ''}` });
      cell.style.setProperty('--heat', `${Math.round((count / most) * 70)}%`);
      if (healed[at]) cell.className = 'healed';
      return cell;
    }));
  }
}
