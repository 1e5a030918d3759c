// Correcting the names of a table during play: the game, its times and its place in the feeds stay.

import { el } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { fetchJson, order } from './api.js';
import { attempt, openDialog } from './dialogs.js';

/** A name with a letter that Latin alphabets do not have. */
const NOT_LATIN = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u;

/** Offers the name as it is written in Latin letters, for readers of tags that know no others. */
function latinOffer(input) {
  const button = el('button', { type: 'button', class: 'button latin', hidden: true, on: { click: () => { input.value = button.dataset.latin; button.hidden = true; } } });
  const look = async () => {
    button.hidden = true;
    const name = input.value.trim();
    if (!NOT_LATIN.test(name)) return;
    const { latin } = await fetchJson(`/latin?name=${encodeURIComponent(name)}`).catch(() => ({}));
    if (!latin || name !== input.value.trim()) return;
    button.dataset.latin = latin;
    button.textContent = t('names.latin', { name: latin });
    button.hidden = false;
  };
  input.addEventListener('change', look);
  look();
  return button;
}

const FIELDS = ['name', 'title', 'rating', 'federation', 'team'];

export async function correctNames(table) {
  const found = await openDialog(t('names'), (close) => {
    const inputs = {};
    const side = (colour) => el('fieldset', { class: 'names' }, el('legend', { text: t(colour) }), FIELDS.map((field) => {
      const input = el('input', { type: field === 'rating' ? 'number' : 'text', autocomplete: 'off', spellcheck: 'false', value: table.players[colour]?.[field] ?? '' });
      inputs[`${colour} ${field}`] = input;
      const label = el('label', { class: `field ${field}` }, el('span', { text: t(`names.${field}`) }), input);
      return field === 'name' ? [label, latinOffer(input)] : label;
    }));
    const value = (colour) => {
      const player = { ...table.players[colour] };
      for (const field of FIELDS) {
        const text = inputs[`${colour} ${field}`].value.trim();
        if (field === 'name') player.name = text;
        else if (!text) delete player[field];
        else player[field] = field === 'rating' ? Number(text) : text;
      }
      return player;
    };
    return [side('white'), side('black'), el('div', { class: 'actions' },
      el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close() } }),
      el('button', { type: 'button', class: 'button primary', text: t('names.take'), on: { click: () => close({ white: value('white'), black: value('black') }) } }))];
  });
  if (!found) return;
  const before = table.players;
  const send = (players) => order({ do: 'players', table: table.table, white: players.white, black: players.black });
  await attempt(() => send(found), t('done.corrected'), { undo: () => send(before) });
}
