// The viewer: which view is shown, the header around it, and what is said about delay and connection.

import { el, fill, setAttr, setText } from '../shared/dom.js';
import { lang, loadWords, t } from '../shared/i18n.js';
import { applyTheme, onPref, pref, setPref } from '../shared/prefs.js';
import { settingsButton, toggle } from '../shared/settings.js';
import { Store } from '../shared/store.js';
import { GameView } from './game.js';
import { GridView } from './grid.js';
import { WallView } from './wall.js';

applyTheme();
const query = new URLSearchParams(location.search);
const mode = location.pathname === '/wall' ? 'wall' : location.pathname === '/embed' ? 'embed' : 'page';
const one = mode === 'embed' ? Number(query.get('table')) || 1 : null;
const store = new Store({ query: one ? { tables: one } : {} });
// The games come while the words do.
store.connect();
await loadWords('page');

const app = document.getElementById('app');
document.body.dataset.mode = mode;

const title = el('h1');
const place = el('p', { class: 'place' });
const connection = el('p', { class: 'connection', role: 'status' });
const delay = el('p', { class: 'delay' });
const main = el('main', { id: 'main', tabindex: '-1' });

function header() {
  return el('header', { class: 'top' },
    el('div', { class: 'heading' }, title, place),
    el('div', { class: 'about' }, delay, connection,
      settingsButton(() => [toggle(t('hide-results'), pref('hideResults', false), (value) => setPref('hideResults', value))])));
}

function span(seconds) {
  return seconds >= 60 && seconds % 60 === 0 ? t('minutes', { n: seconds / 60 }) : t('seconds', { n: seconds });
}

/** The event's name, however the daemon carries it. */
function eventName() {
  const event = store.event;
  return (typeof event === 'object' ? event?.name || event?.id : event) || 'arbiterd';
}

function describe() {
  const number = store.round?.number || [...store.tables.values()][0]?.round;
  setText(title, eventName());
  setText(place, number ? t('round', { n: number }) : '');
  document.title = [eventName(), number && t('round', { n: number })].filter(Boolean).join(' · ');
  const seconds = Number(store.round?.delay_seconds ?? 0);
  setText(delay, store.ready ? (seconds ? t('delayed', { time: span(seconds) }) : t('not-delayed')) : '');
  document.body.dataset.connection = store.connection;
  setAttr(connection, 'data-state', store.connection);
  setText(connection, t(`connection.${store.connection}`));
}

let view = null;
let shown = null;

function route() {
  const [, kind, number] = location.hash.replace(/^#/, '').split('/');
  const key = mode === 'page' ? (kind === 'table' ? `table ${number}` : 'grid') : mode;
  if (key === shown) return;
  const moved = shown !== null;
  shown = key;
  view?.close();
  if (mode === 'wall') view = new WallView(store);
  else if (mode === 'embed') view = new GameView(store, one, { embed: true });
  else if (kind === 'table') view = new GameView(store, Number(number), {});
  else view = new GridView(store);
  fill(main, view.root);
  document.body.dataset.view = key.split(' ')[0];
  view.opened?.();
  if (kind !== 'table') describe();
  if (moved) main.focus({ preventScroll: true });
  scrollTo(0, 0);
}

document.documentElement.lang = lang;
fill(app, mode === 'embed' ? [main, el('footer', { class: 'embed-foot' }, delay, connection)] : [header(), main]);
describe();
route();
addEventListener('hashchange', route);
store.subscribe((kind) => {
  if (kind === 'connection' || kind === 'hello' || kind === 'tables' || kind === 'snapshot' || kind === 'round') describe();
});
onPref(() => view?.refresh?.());
