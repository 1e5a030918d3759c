// The small dialog for language, look and notation.

import { el, iconButton } from './dom.js';
import { LANGUAGES, lang, t } from './i18n.js';
import { pref, setPref } from './prefs.js';

function choice(name, label, options, current, choose) {
  return el('fieldset', {}, el('legend', { text: label }),
    el('div', { class: 'choices' }, options.map(([value, text]) => el('label', {},
      el('input', { type: 'radio', name, value, checked: value === current, on: { change: () => choose(value) } }),
      el('span', { text })))));
}

/** A switch with a name. */
export function toggle(label, current, choose) {
  return el('label', { class: 'toggle' },
    el('input', { type: 'checkbox', checked: current, on: { change: (event) => choose(event.target.checked) } }),
    el('span', { text: label }));
}

/** The button that opens the settings; `extra()` adds a page's own. */
export function settingsButton(extra = () => []) {
  const open = () => {
    const dialog = el('dialog', { class: 'settings', 'aria-label': t('settings') });
    dialog.append(el('form', { method: 'dialog' },
      el('header', {}, el('h2', { text: t('settings') }), iconButton('close', t('close'), () => dialog.close())),
      choice('language', t('language'), Object.entries(LANGUAGES), lang, (value) => {
        setPref('lang', value);
        const address = new URL(location.href);
        address.searchParams.delete('lang');
        history.replaceState(null, '', address);
        location.reload();
      }),
      choice('theme', t('theme'), ['auto', 'light', 'dark'].map((name) => [name, t(`theme.${name}`)]), pref('theme', 'auto'), (value) => setPref('theme', value)),
      choice('notation', t('notation'), [['en', 'K Q R B N'], ['ru', 'Кр Ф Л С К'], ['fig', '♔ ♕ ♖ ♗ ♘']], pref('notation', 'en'), (value) => setPref('notation', value)),
      extra()));
    dialog.addEventListener('close', () => dialog.remove());
    dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
    document.body.append(dialog);
    dialog.showModal();
  };
  return iconButton('gear', t('settings'), open);
}
