// The event beside its running round: boards and where they stand, sections, adjourned games that are at no
// table, and rounds of a round robin made without another program.

import { el, fill, icon, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { playerText } from '../shared/people.js';
import { batch } from '../shared/store.js';
import { adjournedText } from './adjourn.js';
import { fetchJson, order, post } from './api.js';
import { attempt, confirm } from './dialogs.js';
import { showDraft } from './imports.js';

/** Berger tables reach this far (players). */
const MOST_PLAYERS = 24;

/** Draws a list anew, unless a person is choosing in it; the keyboard stays at the line where it was. */
function redraw(list, lines) {
  const at = list.contains(document.activeElement) ? document.activeElement : null;
  if (at?.tagName === 'SELECT') return;
  const line = at ? [...list.children].findIndex((one) => one.contains(at)) : -1;
  fill(list, lines());
  if (line >= 0) list.children[line]?.querySelector('button, select')?.focus();
}

export class EventView {
  #boards = [];
  #away = [];

  constructor(context) {
    this.context = context;
    this.boardList = el('ul', { class: 'results' });
    this.boardsText = el('p', { class: 'soft', role: 'status' });
    this.sections = el('ul', { class: 'results' });
    this.adjourned = el('ul', { class: 'results' });
    const box = (name, ...content) => el('section', { class: 'box', 'aria-label': t(`event.${name}`) }, el('h2', { text: t(`event.${name}`) }), content);
    this.sectionsBox = box('sections', this.sections);
    this.adjournedBox = box('adjourned', el('p', { class: 'soft', text: t('event.adjourned.hint') }), this.adjourned);
    this.root = el('div', { class: 'event-view' },
      el('div', { class: 'tools' }, el('a', { class: 'button', href: '#/round' }, icon('back'), el('span', { text: t('round-view') }))),
      el('h1', { text: t('event') }),
      el('div', { class: 'round-grid' },
        box('boards', this.boardsText, el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('event.boards') }, this.boardList)),
        this.sectionsBox, this.adjournedBox,
        context.may.round && box('berger', this.#berger())));
    this.later = batch(() => this.load());
    this.unsubscribe = context.store.subscribe((kind) => {
      if (['snapshot', 'round', 'tables', 'table', 'board'].includes(kind)) this.later('load');
    });
    this.load();
  }

  close() {
    this.unsubscribe();
  }

  async load() {
    try {
      const [boards, adjourned] = await Promise.all([fetchJson('/boards'), fetchJson('/adjourned')]);
      this.#boards = boards;
      this.#away = adjourned.away;
    } catch { return; }
    this.refresh();
  }

  refresh() {
    const { store } = this.context;
    const free = this.#boards.filter((board) => board.table === null).length;
    setText(this.boardsText, this.#boards.length ? t('event.boards.count', { n: this.#boards.length, free }) : t('event.boards.none'));
    redraw(this.boardList, () => this.#boards.map((board) => this.#board(board)));
    const sections = store.round?.sections ?? [];
    this.sectionsBox.hidden = !sections.some((section) => section.id);
    fill(this.sections, sections.map((section) => this.#section(section)));
    this.adjournedBox.hidden = this.#away.length === 0;
    redraw(this.adjourned, () => this.#away.map((game) => this.#game(game)));
  }

  /** A choice among the tables, with what is done with it. */
  #chooser(tables, label, act) {
    const select = el('select', { 'aria-label': label }, el('option', { value: '', text: t('event.choose-table') }),
      tables.map((table) => el('option', { value: String(table.table), text: `${table.table}. ${playerText(table.players.white)} – ${playerText(table.players.black)}` })));
    select.addEventListener('change', async () => {
      const number = Number(select.value);
      select.blur();
      if (number) await act(number);
      this.load();
    });
    return select;
  }

  #board(board) {
    const { may, store } = this.context;
    const place = board.table === null ? t('event.boards.free') : t('table', { n: board.table });
    const name = [board.board, board.model].filter(Boolean).join(' · ');
    const table = board.table === null ? null : store.tables.get(board.table);
    return el('li', {}, el('div', { class: 'grow' }, el('b', { text: name }), el('small', { class: board.online ? 'soft' : 'warn', text: [place, board.online ? t('health.up') : t('health.down')].join(' · ') })),
      may.correct && (table
        ? el('button', { type: 'button', class: 'button', text: t('event.boards.take-away'), 'aria-label': `${t('event.boards.take-away')}: ${name}`, on: { click: () => this.#takeAway(board, table) } })
        : this.#chooser(store.sorted().filter((one) => !one.link?.board), `${t('event.boards.put')}: ${name}`,
          (number) => attempt(() => order({ do: 'bind', table: number, board: board.board }), t('event.boards.put.done', { n: number }), { undo: () => post(`/tables/${number}/unbind`) }))));
  }

  async #takeAway(board, table) {
    const playing = table.status === 'playing' && !table.result;
    if (playing && !(await confirm(t('event.boards.take-away'), t('event.boards.take-away.text', { n: table.table }), { danger: true }))) return;
    await attempt(() => post(`/tables/${table.table}/unbind`), t('event.boards.take-away.done', { n: table.table }), { undo: () => order({ do: 'bind', table: table.table, board: board.board }) });
    this.load();
  }

  #section(section) {
    const act = (how) => async () => {
      if (await confirm(t(`event.section.${how}`, { name: section.name }), '', { danger: how === 'close' })) await attempt(() => post(`/sections/${encodeURIComponent(section.id)}/${how}`), t('done.entry', { what: t(`event.section.${how}`, { name: section.name }) }));
    };
    const running = Boolean(section.started_at);
    return el('li', {}, el('div', { class: 'grow' }, el('b', { text: section.name || t('event.section.main') }), el('small', { class: 'soft', text: [section.number ? t('round', { n: section.number }) : t('event.section.no-round'), section.number && t(running ? 'event.section.running' : 'event.section.waiting')].filter(Boolean).join(' · ') })),
      this.context.may.round && section.id && section.number > 0 && el('div', { class: 'buttons' },
        !running && el('button', { type: 'button', class: 'button', text: t('round.start'), 'aria-label': t('event.section.start', { name: section.name }), on: { click: act('start') } }),
        el('button', { type: 'button', class: 'button', text: t('round.close'), 'aria-label': t('event.section.close', { name: section.name }), on: { click: act('close') } })));
  }

  #game(game) {
    const players = `${playerText(game.white)} – ${playerText(game.black)}`;
    const idle = this.context.store.sorted().filter((table) => table.plies.length === 0 || table.result);
    return el('li', {}, el('div', { class: 'grow' }, el('b', { text: players }), el('small', { class: 'soft', text: [t('round', { n: game.round }), adjournedText(game)].join(' · ') })),
      this.context.may.enter && this.#chooser(idle, `${t('adjourn.resume')}: ${players}`, (number) => attempt(() => post(`/tables/${number}/resume`, { game: { section: game.section, round: game.round, board: game.board } }), t('done.entry', { what: t('adjourn.resume') }))));
  }

  /** Players in the order of their lots, and which round of the table. */
  #berger() {
    const names = el('textarea', { rows: 8, spellcheck: 'false', autocomplete: 'off' });
    const round = el('input', { type: 'number', min: 1, value: '1' });
    const twice = el('input', { type: 'checkbox' });
    const note = el('p', { class: 'soft', role: 'status' });
    const lines = () => names.value.split('\n').map((line) => line.trim()).filter(Boolean);
    const make = el('button', { type: 'button', class: 'button primary', disabled: true, text: t('event.berger.look'), on: { click: async () => {
      const answer = await attempt(() => post('/berger/round', { players: lines().map((name) => ({ name })), round: Number(round.value), double: twice.checked }));
      if (!answer) return;
      const found = { round: answer.round, byes: answer.free ? [answer.free] : [] };
      if (await showDraft(this.context, found)) await attempt(() => order({ do: 'round', round: answer.round }), t('import.done', { n: answer.round.tables.length }));
    } } });
    names.addEventListener('input', () => {
      const n = lines().length;
      make.disabled = n < 3 || n > MOST_PLAYERS;
      setText(note, t('event.berger.players', { n }));
    });
    return [el('p', { class: 'soft', text: t('event.berger.hint') }),
      el('label', { class: 'field' }, el('span', { text: t('event.berger.names') }), names), note,
      el('div', { class: 'berger-choice' }, el('label', { class: 'field' }, el('span', { text: t('event.berger.round') }), round),
        el('label', { class: 'check' }, twice, el('span', { text: t('event.berger.double') }))),
      el('div', { class: 'buttons' }, make)];
  }
}
