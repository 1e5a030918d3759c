// The daemon's own trouble, such as a journal that cannot be written: asked for every few seconds and
// shown above every view until it is over.

import { el, setText } from '../shared/dom.js';
import { t } from '../shared/i18n.js';

const EVERY_MS = 5000;

/** A bar that is there only while something is wrong. */
export function troubleBar() {
  const why = el('span');
  const bar = el('p', { class: 'trouble-bar', role: 'alert', hidden: true }, el('b', { text: t('trouble.machine') }), ' ', why);
  const ask = async () => {
    try {
      const answer = await fetch('/readyz', { cache: 'no-store' });
      // Read to its end in either case: a body left unread keeps its connection.
      const said = await answer.text();
      if (answer.status === 503) setText(why, JSON.parse(said).detail ?? '');
      bar.hidden = answer.status !== 503;
    } catch { /* Without a connection the header says so. */ }
  };
  ask();
  setInterval(ask, EVERY_MS);
  return bar;
}
