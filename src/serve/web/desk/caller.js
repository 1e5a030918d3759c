// Calls the arbiter: a sound and a notification, only for what decides a game or needs someone at the
// board now, and never for what the Laws leave to the arbiter's silence (12.6).

import { el, setText } from '../shared/dom.js';
import { ownText, t } from '../shared/i18n.js';
import { pref } from '../shared/prefs.js';
import { concerns } from './alert.js';

const LOUD = new Set(['decides', 'go-now']);

export class Caller {
  #told = new Set();
  #audio = null;

  constructor(context) {
    this.context = context;
    context.store.subscribe((kind, table, message) => {
      if (kind === 'snapshot') this.#know();
      if (kind === 'alert') this.#alert(table, message.alert);
    });
    // Browsers let a page sound only after a first touch of it.
    const wake = () => { this.#sound()?.resume?.(); };
    addEventListener('pointerdown', wake, { once: true });
    addEventListener('keydown', wake, { once: true });
  }

  /** What was open before the page came is on the list, and does not call. */
  #know() {
    for (const table of this.context.store.tables.values()) for (const alert of table.alerts.values()) this.#told.add(this.#key(table.table, alert));
  }

  #key(table, alert) {
    return `${this.context.store.tables.get(table)?.game} ${table} ${alert.id} ${alert.severity}`;
  }

  #alert(table, alert) {
    const key = this.#key(table, alert);
    if (this.#told.has(key) || alert.state !== 'open' || !LOUD.has(alert.severity) || alert.audience === 'arbiter-silent') return;
    if (!concerns(this.context, table)) return;
    this.#told.add(key);
    if (pref('sound', true)) this.#ring(alert.severity === 'decides');
    if (pref('notify', false) && typeof Notification !== 'undefined' && Notification.permission === 'granted') {
      const note = new Notification(t('table', { n: table }), { body: ownText(alert.text), tag: key, requireInteraction: true });
      note.onclick = () => { focus(); location.hash = '#/'; note.close(); };
    }
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(alert.severity === 'decides' ? [120, 80, 120] : 160);
  }

  #sound() {
    if (!this.#audio && typeof AudioContext !== 'undefined') this.#audio = new AudioContext();
    return this.#audio;
  }

  /** Two soft notes; falling when a game is decided. */
  #ring(decides) {
    const audio = this.#sound();
    if (!audio || audio.state !== 'running') return;
    (decides ? [784, 523] : [587, 784]).forEach((pitch, at) => {
      const tone = audio.createOscillator();
      const gain = audio.createGain();
      const start = audio.currentTime + at * 0.19;
      tone.type = 'triangle';
      tone.frequency.value = pitch;
      gain.gain.setValueAtTime(0, start);
      gain.gain.linearRampToValueAtTime(0.28, start + 0.02);
      gain.gain.exponentialRampToValueAtTime(0.001, start + 0.5);
      tone.connect(gain).connect(audio.destination);
      tone.start(start);
      tone.stop(start + 0.55);
    });
  }

  /** Lets the person hear it. */
  sample() {
    this.#sound()?.resume?.().then(() => this.#ring(false));
  }

  /** The switch for notifications; asks the browser when it is turned on. */
  notificationSetting() {
    if (typeof Notification === 'undefined') return null;
    const note = el('span', { text: t('notify') });
    const box = el('input', { type: 'checkbox', checked: pref('notify', false) && Notification.permission === 'granted', on: { change: async () => {
      if (box.checked && (await Notification.requestPermission()) !== 'granted') {
        box.checked = false;
        setText(note, t('notify.denied'));
      }
      const { setPref } = await import('../shared/prefs.js');
      setPref('notify', box.checked);
    } } });
    return el('label', { class: 'toggle' }, box, note);
  }
}
