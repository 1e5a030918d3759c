// Sheets for the printer: pairings, the check before the round, score sheets, match protocols, the
// summary of the round, the incident report. White paper whatever the screen looks like.

import { notation, plyNumber } from '../shared/chess.js';
import { clockText } from '../shared/clock.js';
import { el, fill, icon } from '../shared/dom.js';
import { lang, ownText, t, timeOfDay } from '../shared/i18n.js';
import { controlText, matches, playerText, reasonText, resultText } from '../shared/people.js';
import { pref } from '../shared/prefs.js';
import { fetchJson, incidents } from './api.js';
import { attempt } from './dialogs.js';
import { rowsOf } from './log.js';

/** Moves in one column of a score sheet. */
const COLUMN = 30;

const day = new Intl.DateTimeFormat(lang, { dateStyle: 'long' });

function grid(heads, rows, kind = '') {
  return el('table', { class: `sheet-table ${kind}` }, el('thead', {}, el('tr', {}, heads.map((text) => el('th', { scope: 'col', text })))),
    el('tbody', {}, rows.map((cells) => el('tr', {}, cells.map((cell) => (cell instanceof Node ? el('td', {}, cell) : el('td', { text: cell ?? '' })))))));
}

/** Lines to sign on. */
function signatures(...names) {
  return el('div', { class: 'signatures' }, names.map((name) => el('p', {}, el('span'), el('small', { text: name }))));
}

function pages({ store }, kind, extra = '') {
  const event = typeof store.event === 'object' ? store.event ?? {} : { name: store.event };
  const { number, date } = store.round ?? {};
  return (title, ...content) => el('article', { class: `paper ${kind}`, tabindex: '0' },
    el('header', {}, el('p', { class: 'paper-event', text: [event.name || 'arbiterd', event.site].filter((text) => text && text !== '?').join(', ') }),
      el('p', { class: 'paper-round', text: [number && t('round', { n: number }), date && day.format(new Date(`${date}T12:00`))].filter(Boolean).join(' · ') })),
    el('h1', { text: [title, extra].filter(Boolean).join(' ') }), content,
    el('footer', {}, el('span', { text: t('print.at', { time: `${day.format(new Date())}, ${timeOfDay(Date.now())}` }) })));
}

const KINDS = {
  pairings: async (context) => [pages(context, 'pairings')(t('print.pairings'),
    grid([t('check.table'), t('white'), t('print.rating'), '', t('black'), t('print.rating')], context.store.sorted().map((table) => {
      const { white, black } = table.players;
      return [String(table.table), playerText(white), white.rating ?? '', table.result?.state === 'final' ? resultText(table.result.value) : ':', playerText(black), black.rating ?? ''];
    }), 'numbers'))],

  check: async (context) => {
    const sheet = await attempt(() => fetchJson('/round/check'));
    if (!sheet) return [];
    const state = (word) => ({ good: '✓', bad: '✗' })[word] ?? '–';
    const both = (pair) => pair.map((seconds) => (seconds === null ? '–' : clockText(seconds))).join(' / ');
    const lines = sheet.tables.map((line) => {
      const { players } = context.store.tables.get(line.table) ?? { players: {} };
      return [String(line.table), `${playerText(players.white)} – ${playerText(players.black)}`,
        line.assigned === 'bad' ? t('no-board') : state(line.online), [state(line.position), line.squares.slice(0, 6).join(' ')].filter(Boolean).join(' '),
        state(line.clock), line.shown_seconds.some((seconds) => seconds !== null) ? `${state(line.time)} ${both(line.shown_seconds)}` : state(line.time),
        line.battery_percent === null ? state(line.battery) : `${state(line.battery)} ${line.battery_percent} %`, ''];
    });
    const expected = [...new Set(sheet.tables.map((line) => line.expected_seconds).filter(Boolean))];
    return [pages(context, 'check')(t('print.check'), el('p', { text: [t('check.summary', { n: sheet.ready, total: sheet.total }), expected.length > 0 && t('print.expected', { time: expected.map(clockText).join(', ') })].filter(Boolean).join(' ') }),
      grid([t('check.table'), t('check.players'), t('check.board'), t('check.position'), t('check.clock'), t('check.clock-set'), t('check.battery'), t('print.remarks')], lines, 'marks'),
      signatures(t('role.arbiter'), t('role.chief-arbiter')))];
  },

  score: async (context, number) => {
    const tables = number === 'all' || number === undefined ? context.store.sorted() : [context.store.tables.get(Number(number))].filter(Boolean);
    return tables.map((table) => {
      // On paper, unless somebody chose otherwise, as score sheets of that language are written.
      const style = { en: 'en', ru: 'ru' }[pref('notation')] ?? lang;
      const moves = [];
      table.plies.forEach((ply, index) => {
        const { move, black } = plyNumber(table.start, index);
        let row = moves.find((one) => one.move === move);
        if (!row) { row = { move, cells: ['', ''] }; moves.push(row); }
        const left = ply.clock?.[black ? 'black' : 'white'];
        row.cells[black ? 1 : 0] = el('span', {}, `${notation(ply.san, style)}${ply.illegal ? '?' : ''}${ply.source && ply.source !== 'board' ? '*' : ''} `, left !== null && left !== undefined && el('small', { text: clockText(left) }));
      });
      const columns = [];
      for (let at = 0; at < Math.max(COLUMN * 2, moves.length); at += COLUMN) {
        const rows = Array.from({ length: COLUMN }, (_, i) => moves[at + i] ?? { move: (moves.at(-1)?.move ?? 0) + (at + i - moves.length) + 1, cells: ['', ''] });
        columns.push(grid(['', t('white'), t('black')], rows.map((row) => [String(row.move), ...row.cells]), 'moves-table'));
      }
      const { result } = table;
      const marked = table.plies.some((ply) => ply.source && ply.source !== 'board');
      return pages(context, 'score', String(table.table))(t('print.score'),
        el('p', { class: 'paper-players' }, el('b', { text: playerText(table.players.white) }), ' – ', el('b', { text: playerText(table.players.black) }),
          el('strong', { text: result ? resultText(result.value) : '' })),
        el('p', { class: 'paper-facts', text: [controlText(table.time_control), result && reasonText(result.reason), result?.state === 'proposed' && t('proposed'), marked && t('print.by-hand')].filter(Boolean).join(' · ') }),
        el('div', { class: 'columns' }, columns), signatures(t('white'), t('black'), t('role.arbiter')));
    });
  },

  matches: async (context) => {
    const list = await attempt(() => fetchJson('/protocols')) ?? [];
    return (Array.isArray(list) ? list : []).map((match) => pages(context, 'match', String(match.number))(t('print.match'),
      el('p', { class: 'paper-players' }, el('b', { text: match.teams[0] }), ' – ', el('b', { text: match.teams[1] }), el('strong', { text: match.complete ? match.score.join(' : ') : match.score.some((text) => text !== '0' && text) ? `(${match.score.join(' : ')})` : '' })),
      grid([t('print.board'), match.teams[0], t('print.rating'), t('print.points'), match.teams[1], t('print.rating'), t('print.points')], match.boards.map((board) => [
        `${board.board} (${board.round_board})`, dotted(board.players[0], board.first_has_white), board.ratings[0] ?? '', `${board.points[0]}${board.forfeit ? ' *' : ''}`, dotted(board.players[1], !board.first_has_white), board.ratings[1] ?? '', `${board.points[1]}${board.forfeit ? ' *' : ''}`,
      ]), 'numbers'),
      el('p', { class: 'paper-facts', text: [match.boards.some((board) => board.forfeit) && t('print.forfeit'), match.boards.some((board) => board.colours_wrong) && t('print.colours')].filter(Boolean).join(' · ') }),
      signatures(match.captains?.[0] ?? t('print.captain', { team: match.teams[0] }), match.captains?.[1] ?? t('print.captain', { team: match.teams[1] }), match.chief_arbiter ?? t('role.chief-arbiter'))));
  },

  summary: async (context) => {
    const tables = context.store.sorted();
    const teams = matches(tables);
    const games = (list) => grid([t('check.table'), t('white'), t('print.rating'), t('entry.result'), t('black'), t('print.rating')], list.map((table) => {
      const { white, black } = table.players;
      return [String(table.table), playerText(white), white.rating ?? '', table.result ? `${resultText(table.result.value)}${table.result.state === 'proposed' ? ' ?' : ''}` : '', playerText(black), black.rating ?? ''];
    }), 'numbers');
    const missing = tables.filter((table) => table.result?.state !== 'final');
    const paper = pages(context, 'summary');
    const tail = [missing.length > 0 && el('p', { class: 'paper-facts', text: t('print.missing', { tables: missing.map((table) => table.table).join(', ') }) }), signatures(t('role.chief-arbiter'))];
    if (!teams.length) return [paper(t('print.summary'), games(tables), tail)];
    return [paper(t('print.summary'), grid(['', t('print.team'), t('print.points'), t('print.team'), t('print.points')], teams.map((match, at) => [String(at + 1), match.teams[0], match.score[0], match.teams[1], match.score[1]]), 'numbers'),
      teams.map((match) => el('section', {}, el('h2', { text: `${match.teams[0]} ${match.score.join(' : ')} ${match.teams[1]}` }), games(match.tables))), tail)];
  },

  report: async (context) => {
    const all = rowsOf(await attempt(() => incidents()) ?? []);
    const rows = all.filter((row) => (row.alert ? row.alert.audience !== 'arbiter-silent' && !['note', 'log'].includes(row.alert.severity) : !['acknowledge'].includes(row.name)));
    const two = (row) => (row.alert ? [ownText(row.alert.text), [row.alert.article && t('article', { n: row.alert.article }), t(`state.alert.${row.alert.state}`)].filter(Boolean).join(', ')] : [[row.title, ...row.facts].join(' · '), row.by]);
    return [pages(context, 'report')(t('report'), rows.length ? grid([t('print.time'), t('check.table'), t('print.what'), t('print.who')], rows.map((row) => [Number.isFinite(row.at) ? timeOfDay(row.at) : '', row.table ? String(row.table) : '', ...two(row)]), 'report-table') : el('p', { text: t('print.nothing') }),
      signatures(t('role.chief-arbiter')))];
  },
};

function dotted(name, white) {
  return el('span', {}, el('span', { class: white ? 'dot' : 'dot black' }), el('span', { class: 'sr', text: t(white ? 'white' : 'black') }), ` ${name}`);
}

export class PrintView {
  constructor(context, kind, ...rest) {
    this.context = context;
    this.kind = Object.hasOwn(KINDS, kind) ? kind : 'summary';
    this.rest = rest;
    this.sheets = el('div', { class: 'sheets' });
    const back = kind === 'score' && rest[0] && rest[0] !== 'all' ? `#/table/${rest[0]}` : kind === 'report' ? '#/log' : '#/round';
    this.root = el('div', { class: 'print-view' },
      el('div', { class: 'tools no-print' }, el('a', { class: 'button', href: back }, icon('back'), el('span', { text: t('print.back') })),
        el('button', { type: 'button', class: 'button primary', on: { click: () => print() } }, icon('print'), el('span', { text: t('print') })),
        el('nav', { class: 'segments', 'aria-label': t('print.sheets') }, ['pairings', 'check', 'matches', 'summary', 'report'].map((name) => el('a', { href: `#/print/${name}`, 'aria-current': name === this.kind ? 'page' : null, text: t(`print.tab.${name}`) })))),
      this.sheets);
    this.unsubscribe = context.store.subscribe((message) => { if (message === 'snapshot') this.draw(); });
    this.draw();
  }

  close() {
    this.unsubscribe();
  }

  refresh() {
    this.draw();
  }

  async draw() {
    if (!this.context.store.ready) return;
    const sheets = await KINDS[this.kind](this.context, ...this.rest);
    fill(this.sheets, sheets.length ? sheets : el('p', { class: 'empty', text: t(this.kind === 'matches' ? 'print.no-matches' : 'print.nothing') }));
  }
}
