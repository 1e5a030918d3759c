// Dialogs and short messages: everything that changes a game is confirmed, and says what came of it.

import { el, iconButton } from '../shared/dom.js';
import { t } from '../shared/i18n.js';

/** Opens a dialog. `build(close)` gives its content; resolves with what it is closed with. */
export function openDialog(title, build, { wide = false } = {}) {
  return new Promise((done) => {
    const dialog = el('dialog', { 'aria-label': title, class: wide ? 'wide' : null });
    let outcome = null;
    const close = (value = null) => { outcome = value; dialog.close(); };
    const form = el('form', { method: 'dialog' },
      el('header', {}, el('h2', { text: title }), iconButton('close', t('close'), () => close())));
    form.append(...[build(close, form)].flat(Infinity).filter(Boolean));
    dialog.append(form);
    dialog.addEventListener('close', () => { dialog.remove(); done(outcome); });
    dialog.addEventListener('pointerdown', (event) => { if (event.target === dialog) close(); });
    document.body.append(dialog);
    dialog.showModal();
    (form.querySelector('[autofocus]') ?? form.querySelector('.primary'))?.focus();
  });
}

/** Asks whether to do it. */
export function confirm(title, text, { yes = title, danger = false, extra = [] } = {}) {
  return openDialog(title, (close) => [
    text && el('p', { text }), extra,
    el('div', { class: 'actions' },
      el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close(false) } }),
      el('button', { type: 'button', class: danger ? 'button danger' : 'button primary', text: yes, on: { click: () => close(true) } })),
  ]);
}

/** Asks for a text. */
export function askText(title, label, { yes = title, value = '', required = false, long = false } = {}) {
  return openDialog(title, (close) => {
    const input = el(long ? 'textarea' : 'input', { ...(long ? { rows: 3 } : { type: 'text' }), value, autofocus: true });
    const send = () => { if (!required || input.value.trim()) close(input.value.trim()); };
    input.addEventListener('keydown', (event) => { if (event.key === 'Enter' && (!long || event.ctrlKey)) { event.preventDefault(); send(); } });
    return [el('label', { class: 'field' }, el('span', { text: label }), input),
      el('div', { class: 'actions' },
        el('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => close() } }),
        el('button', { type: 'button', class: 'button primary', text: yes, on: { click: send } }))];
  });
}

let shelf = null;

/** A short message below; with `undo` it offers to take the action back. */
export function toast(text, { undo = null, bad = false } = {}) {
  shelf ??= el('div', { class: 'toasts', role: 'status' });
  if (!shelf.isConnected) document.body.append(shelf);
  const node = el('div', { class: bad ? 'toast bad' : 'toast' }, el('span', { text }));
  if (undo) {
    node.append(el('button', { type: 'button', class: 'button', text: t('undo'), on: { click: async () => {
      node.remove();
      await attempt(undo, t('undone'));
    } } }));
  }
  node.append(iconButton('close', t('close'), () => node.remove()));
  shelf.append(node);
  while (shelf.children.length > 3) shelf.firstChild.remove();
  setTimeout(() => node.remove(), undo || bad ? 12_000 : 4_000);
}

/** Does it and says so; a refusal is shown in its own words. Resolves with the answer, or `null`. */
export async function attempt(act, done, { undo = null } = {}) {
  try {
    const answer = await act();
    if (done) toast(done, { undo });
    return answer ?? {};
  } catch (refused) {
    toast(refused.status === 0 ? t('no-answer') : t('refused', { why: refused.message }), { bad: true });
    return null;
  }
}

