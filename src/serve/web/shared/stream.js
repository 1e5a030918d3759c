// The connection to `/ws`: opens, resumes where it left off, notices silence, comes back.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
/** A heartbeat comes every 15 s: after this silence the line is dead. */
const SILENCE = 40_000;

export class Stream {
  #socket = null;
  #tries = 0;
  #timer = null;
  #watch = null;
  #query;
  #from;
  #onMessage;
  #onState;
  state = 'connecting';

  /**
   * `from()` gives the last sequence number held, or `null`; `onMessage` gets each message;
   * `onState` gets `connecting`, `open`, `waiting` or `refused`.
   */
  constructor({ query = {}, from, onMessage, onState }) {
    this.#query = query;
    this.#from = from;
    this.#onMessage = onMessage;
    this.#onState = onState;
    addEventListener('online', () => this.retryNow());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.retryNow(); });
    // A page that is being left must not show a lost connection, and may be restored later.
    addEventListener('pagehide', () => this.#drop());
    addEventListener('pageshow', (event) => { if (event.persisted) this.open(); });
  }

  open() {
    this.#drop();
    const query = new URLSearchParams(this.#query);
    const from = this.#from();
    if (from !== null) query.set('from', from);
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const tail = query.size ? `?${query}` : '';
    const socket = new WebSocket(`${scheme}://${location.host}/ws${tail}`);
    this.#socket = socket;
    let heard = false;
    this.#set('connecting');
    this.#listen();
    socket.onmessage = (event) => {
      this.#listen();
      if (!heard) { heard = true; this.#tries = 0; this.#set('open'); }
      let message;
      try { message = JSON.parse(event.data); } catch { return; }
      this.#onMessage(message);
    };
    socket.onclose = (event) => {
      if (this.#socket !== socket) return;
      this.#drop();
      if (event.code === 4401 || event.code === 1008) this.#set('refused');
      else this.#again();
    };
  }

  /** Starts over without `from`, after a gap was noticed. */
  retryNow() {
    if (this.state === 'waiting') { this.#tries = 0; this.open(); }
  }

  #again() {
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#tries) * (0.7 + 0.6 * Math.random());
    this.#tries += 1;
    this.#set('waiting');
    this.#timer = setTimeout(() => this.open(), wait);
  }

  #listen() {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => { this.#drop(); this.#again(); }, SILENCE);
  }

  #drop() {
    clearTimeout(this.#timer);
    clearTimeout(this.#watch);
    const socket = this.#socket;
    this.#socket = null;
    if (socket) { socket.onclose = null; socket.onmessage = null; socket.close(); }
  }

  #set(state) {
    if (this.state === state) return;
    this.state = state;
    this.#onState?.(state);
  }
}
