// Players, results and team scores in words.

import { el } from './dom.js';
import { has, t } from './i18n.js';

/** `GM Last, First` in two elements, with the federation's letters and the rating as text. */
export function playerLine(player = {}, { rating = false } = {}) {
  return el('span', { class: 'player' },
    player.title && el('span', { class: 'title', text: player.title }),
    el('span', { class: 'name', text: player.name || t('no-name'), title: player.name || null }),
    player.federation && el('span', { class: 'federation', text: player.federation }),
    rating && player.rating && el('span', { class: 'rating', text: String(player.rating) }));
}

/** A player as one string. */
export function playerText(player = {}) {
  return [player.title, player.name || t('no-name')].filter(Boolean).join(' ');
}

const WORDS = { '1-0': '1–0', '0-1': '0–1', '1/2-1/2': '½–½', '1/2-0': '½–0', '0-1/2': '0–½', '0-0': '0–0', '+:-': '+ : –', '-:+': '– : +', '-:-': '– : –' };

/** The result as people write it. */
export function resultText(value) {
  return value === 'adj' ? t('adjourned') : WORDS[value] ?? value;
}

/** Why, in words. */
export function reasonText(reason) {
  const key = `reason.${reason}`;
  return has(key) ? t(key) : '';
}

/** `40/5400+30:1800+30` in words; what is not of that form stays as it is. */
export function controlText(control) {
  const parts = String(control ?? '').split(':').map((part) => part.match(/^(?:(\d+)\/)?(\d+)(?:\+(\d+))?$/));
  if (!control || parts.some((part) => !part)) return control ?? '';
  const time = (seconds) => (seconds % 60 ? `${seconds} ${t('s')}` : `${seconds / 60} ${t('min')}`);
  return parts.map(([, moves, base, plus]) => `${moves ? t('control.moves', { n: moves }) : ''}${time(Number(base))}${Number(plus) ? ` + ${time(Number(plus))}` : ''}`).join(', ');
}

const POINTS = { '1-0': [1, 0], '0-1': [0, 1], '1/2-1/2': [0.5, 0.5], '1/2-0': [0.5, 0], '0-1/2': [0, 0.5], '+:-': [1, 0], '-:+': [0, 1] };

function points(value) {
  const whole = Math.floor(value);
  return value % 1 ? `${whole || ''}½` : String(whole);
}

/** Team matches among these tables, in table order: `{teams: [a, b], tables, score: 'text'}`. */
export function matches(tables) {
  const found = new Map();
  for (const table of tables) {
    const white = table.players?.white?.team;
    const black = table.players?.black?.team;
    if (!white || !black) continue;
    const key = JSON.stringify([white, black].sort());
    if (!found.has(key)) found.set(key, { key, teams: [white, black], tables: [], sums: [0, 0] });
    const match = found.get(key);
    match.tables.push(table);
    const gained = table.result?.state === 'final' ? POINTS[table.result.value] : null;
    if (gained) {
      const first = white === match.teams[0] ? 0 : 1;
      match.sums[first] += gained[0];
      match.sums[1 - first] += gained[1];
    }
  }
  for (const match of found.values()) match.score = match.sums.map(points);
  return [...found.values()];
}
