// Clocks that go on between readings, and times as people read them.

/** Over how long (ms) it is measured how fast the stream's time runs. */
const RATE_WINDOW = 4000;

/**
 * The stream's own time. Messages carry the moment they tell of; the one that came with the least
 * delay shows how far that lies behind this device. So a wrong device clock does no harm, and on a
 * delayed stream everything runs as it ran then.
 */
export class StreamTime {
  #offset = null;
  #behind = 0;
  #first = null;
  #last = null;
  #rate = 1;

  /** A live message told of this moment (ms since 1970). */
  note(at) {
    if (typeof at !== 'number') return;
    const here = performance.now();
    const offset = at - here;
    if (this.#offset === null || offset > this.#offset) this.#offset = offset;
    // A demonstration may live faster than life: then the stream's moments run ahead of ours.
    this.#last = { at, here };
    if (this.#first === null || here - this.#first.here > RATE_WINDOW * 4) this.#first = this.#last;
    else if (here - this.#first.here > RATE_WINDOW) {
      const rate = (at - this.#first.at) / (here - this.#first.here);
      this.#rate = rate > 1.3 ? rate : 1;
    }
  }

  /** A new connection: what was learnt may be stale. */
  reset() {
    this.#offset = null;
    this.#first = null;
    this.#rate = 1;
  }

  /** By how many seconds the stream is said to be delayed; used until a message has come. */
  set delay(seconds) {
    this.#behind = Number(seconds) || 0;
  }

  /** Now, in the stream's time. */
  now() {
    if (this.#offset === null) return Date.now() - this.#behind * 1000;
    const here = performance.now();
    return this.#rate === 1 ? here + this.#offset : this.#last.at + (here - this.#last.here) * this.#rate;
  }
}

/** Seconds left for a side now, or `null`. */
export function secondsLeft(clock, side, now, stopped) {
  const left = clock?.[side];
  if (left === null || left === undefined) return null;
  if (stopped || clock.running !== side) return left;
  return Math.max(0, left - Math.max(0, now - clock.at) / 1000);
}

/** `1:23:45`, `23:45`, `0:07`; what is not known is a dash. */
export function clockText(seconds) {
  if (seconds === null || seconds === undefined) return '–:––';
  const whole = Math.ceil(seconds - 0.001);
  const s = String(whole % 60).padStart(2, '0');
  const m = Math.floor(whole / 60) % 60;
  const h = Math.floor(whole / 3600);
  return h ? `${h}:${String(m).padStart(2, '0')}:${s}` : `${m}:${s}`;
}

/** Calls every listener four times a second, from one timer, while the page is seen. */
const tickers = new Set();
let timer = null;
function beat() {
  for (const ticker of tickers) ticker();
}
function drive() {
  const wanted = tickers.size > 0 && !document.hidden;
  if (wanted && timer === null) { timer = setInterval(beat, 250); beat(); }
  if (!wanted && timer !== null) { clearInterval(timer); timer = null; }
}
document.addEventListener('visibilitychange', drive);

/** Registers for the beat; returns the way to stop it. */
export function onTick(ticker) {
  tickers.add(ticker);
  drive();
  return () => { tickers.delete(ticker); drive(); };
}
