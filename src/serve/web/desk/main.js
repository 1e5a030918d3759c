// The desk: signing in, the frame around the views, and what calls an arbiter from elsewhere (sound,
// notification, the number in the title).

import { el, fill, icon, setAttr, setText } from '../shared/dom.js';
import { loadWords, t } from '../shared/i18n.js';
import { applyTheme, onPref, pref, setPref } from '../shared/prefs.js';
import { settingsButton, toggle } from '../shared/settings.js';
import { Store } from '../shared/store.js';
import { signIn, signOut, whoAmI } from './api.js';
import { AttentionView, openCount } from './attention.js';
import { Caller } from './caller.js';
import { toast } from './dialogs.js';
import { troubleBar } from './trouble.js';

applyTheme();
await loadWords('page', 'desk');

const app = document.getElementById('app');

/** The token of a link such as `/#token=…` becomes a session and leaves the address at once. */
async function tokenFromLink() {
  const match = location.hash.match(/^#token=([^&]+)(?:&(.*))?$/);
  if (!match) return null;
  history.replaceState(null, '', `${location.pathname}${match[2] ? `#${match[2]}` : ''}`);
  try {
    return await signIn(decodeURIComponent(match[1]));
  } catch (refused) {
    return { refused: refused.message };
  }
}

function signInPage(why) {
  const input = el('input', { type: 'password', autocomplete: 'off', spellcheck: 'false', required: true, autofocus: true });
  const fault = el('p', { class: 'fault', role: 'alert', text: why ?? '' });
  const form = el('form', { class: 'sign-in', on: { submit: async (event) => {
    event.preventDefault();
    try {
      await signIn(input.value.trim());
      location.reload();
    } catch (refused) {
      setText(fault, refused.message || t('no-answer'));
    }
  } } },
  el('img', { src: new URL('../pieces/icon.svg', import.meta.url).href, width: 64, height: 64, alt: '' }),
  el('h1', { text: t('sign-in') }),
  el('p', { class: 'soft', text: t('sign-in.hint') }),
  el('label', { class: 'field' }, el('span', { text: t('token') }), input),
  fault,
  el('button', { type: 'submit', class: 'button primary', text: t('sign-in') }));
  fill(app, el('main', { class: 'gate' }, form));
  input.focus();
}

/** A module that is loaded when it is needed, with the words and the style that go with it. */
async function lazy(file) {
  const [module] = await Promise.all([import(file), loadWords('tools'), loadStyle()]);
  return module;
}

let styled = null;
function loadStyle() {
  styled ??= new Promise((done) => {
    const link = el('link', { rel: 'stylesheet', href: new URL('./tools.css', import.meta.url).href });
    link.addEventListener('load', done);
    link.addEventListener('error', done);
    document.head.append(link);
  });
  return styled;
}

const VIEWS = {
  '': async (context) => new AttentionView(context),
  hall: async (context) => new (await lazy('./hall.js')).HallView(context),
  table: async (context, number, part) => (part === 'trace'
    ? new (await lazy('./trace.js')).TraceView(context, Number(number))
    : new (await lazy('./table.js')).TableView(context, Number(number))),
  round: async (context) => new (await lazy('./round.js')).RoundView(context),
  event: async (context) => new (await lazy('./event.js')).EventView(context),
  print: async (context, ...which) => new (await lazy('./print.js')).PrintView(context, ...which),
  log: async (context) => new (await lazy('./log.js')).LogView(context),
  help: async (context) => new (await lazy('./help.js')).HelpView(context),
};

function desk(me) {
  const store = new Store();
  const may = {
    enter: me.role === 'chief-arbiter' || me.role === 'arbiter',
    correct: me.role !== 'read-only',
    round: me.role === 'chief-arbiter' || me.role === 'operator',
    acknowledge: me.role !== 'read-only',
  };
  const context = { store, me, may, caller: null };
  const caller = new Caller(context);
  context.caller = caller;

  const badge = el('span', { class: 'badge', hidden: true });
  const links = [['', 'bell', 'attention'], ['hall', 'grid', 'hall'], ['round', 'check', 'round-view'], ['log', 'log', 'log']].map(([path, picture, name]) => {
    const link = el('a', { href: `#/${path}` }, icon(picture), el('span', { text: t(name) }), path === '' && badge);
    link.dataset.path = path;
    return link;
  });
  const eventName = el('b');
  const roundName = el('span');
  const title = el('p', { class: 'event' }, eventName, roundName);
  const connection = el('p', { class: 'connection', role: 'status' });
  const main = el('main', { id: 'main', tabindex: '-1' });
  fill(app,
    el('header', { class: 'top' }, title,
      el('nav', { 'aria-label': t('views') }, links),
      el('div', { class: 'about' }, connection,
        settingsButton(() => [
          toggle(t('sound'), pref('sound', true), (value) => { setPref('sound', value); if (value) caller.sample(); }),
          caller.notificationSetting(),
          me.tables && toggle(t('own-tables'), pref('ownTables', true), (value) => setPref('ownTables', value)),
          el('p', { class: 'soft', text: t('signed-in', { name: me.name, role: t(`role.${me.role}`) }) }),
          el('a', { class: 'button', href: '#/help', text: t('help'), on: { click: (event) => event.target.closest('dialog').close() } }),
          me.name !== 'local' && el('button', { type: 'button', class: 'button', text: t('sign-out'), on: { click: async () => { await signOut(); location.reload(); } } }),
        ].filter(Boolean)))),
    troubleBar(),
    main);

  let view = null;
  let shown = null;
  let turn = 0;
  const route = async () => {
    // A sign-in link opened in a page that is already here.
    if (location.hash.startsWith('#token=')) { location.reload(); return; }
    const path = location.hash.replace(/^#\/?/, '').split('?')[0];
    const key = location.hash;
    if (key === shown) return;
    const moved = shown !== null;
    shown = key;
    const [kind, ...rest] = path.split('/');
    const make = VIEWS[kind] ?? VIEWS[''];
    turn += 1;
    const mine = turn;
    let next;
    try { next = await make(context, ...rest); } catch { shown = null; toast(t('no-answer'), { bad: true }); return; }
    if (mine !== turn) { next.close(); return; }
    view?.close();
    view = next;
    document.body.dataset.view = kind || 'attention';
    fill(main, view.root);
    for (const link of links) setAttr(link, 'aria-current', link.dataset.path === kind || (kind === 'table' && link.dataset.path === 'hall') || (['print', 'event'].includes(kind) && link.dataset.path === 'round') ? 'page' : null);
    if (moved) main.focus({ preventScroll: true });
    scrollTo(0, 0);
    view.opened?.();
  };

  const describe = () => {
    const event = store.event;
    const name = (typeof event === 'object' ? event?.name : event) || 'arbiterd';
    const number = store.round?.number;
    setText(eventName, name);
    setText(roundName, number ? t('round', { n: number }) : '');
    eventName.title = name;
    document.body.dataset.connection = store.connection;
    setAttr(connection, 'data-state', store.connection);
    setText(connection, t(`connection.${store.connection}`));
  };
  const count = () => {
    const open = openCount(context);
    badge.hidden = open === 0;
    setText(badge, String(open));
    document.title = `${open ? `(${open}) ` : ''}${t('desk')} · ${(store.event?.name || 'arbiterd')}`;
    if (navigator.setAppBadge) navigator.setAppBadge(open).catch(() => {});
  };
  store.subscribe((kind) => {
    if (['connection', 'hello', 'snapshot', 'round'].includes(kind)) describe();
    if (['snapshot', 'alert', 'table'].includes(kind)) count();
    if (kind === 'connection' && store.connection === 'waiting') whoAmI().then((who) => { if (!who) location.reload(); }, () => {});
  });
  onPref(() => { view?.refresh?.(); count(); });
  addEventListener('hashchange', route);
  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.('input, textarea, select, dialog')) return;
    const to = { 1: '#/', 2: '#/hall', 3: '#/round', 4: '#/log' }[event.key];
    if (to) location.hash = to;
    if (event.key === '?') location.hash = '#/help';
    if (event.key === '/') {
      const search = main.querySelector('input[type="search"]');
      if (search) { event.preventDefault(); search.focus(); }
    }
  });
  describe();
  count();
  route();
  store.connect();
}

const fromLink = await tokenFromLink();
if (fromLink?.refused !== undefined) signInPage(fromLink.refused);
else {
  let me = null;
  let fault = null;
  try { me = await whoAmI(); } catch { fault = t('no-answer'); }
  if (me) desk(me);
  else signInPage(fault);
}
