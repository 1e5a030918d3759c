// Correcting the names of a table during play: the game, its times and its place in the feeds stay.

import { el } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { order } from './api.js';
import { attempt, openDialog } from './dialogs.js';

const FIELDS = ['name', 'title', 'rating', 'federation', 'team'];

export async function correctNames(table) {
  const found = await openDialog(t('names'), (close) => {
    const inputs = {};
    const side = (colour) => el('fieldset', { class: 'names' }, el('legend', { text: t(colour) }), FIELDS.map((field) => {
      const input = el('input', { type: field === 'rating' ? 'number' : 'text', autocomplete: 'off', spellcheck: 'false', value: table.players[colour]?.[field] ?? '' });
      inputs[`${colour} ${field}`] = input;
      return el('label', { class: `field ${field}` }, el('span', { text: t(`names.${field}`) }), input);
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
