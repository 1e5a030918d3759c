// What the page knows of the hall: a fold over the stream, as the daemon's own read model.

import { StreamTime } from './clock.js';
import { Stream } from './stream.js';

/** Touches kept for the trace of one table. */
const TOUCHES = 2000;

function newTable(number) {
  return {
    table: number, round: null, game: null, players: { white: {}, black: {} }, status: 'waiting', start: '', chess960: false,
    time_control: '', link: {}, counts: null, plies: [], clock: {}, result: null, sensed: '', alerts: new Map(), touches: [],
    presses: [], correctedAt: null, answer: null,
  };
}

export class Store {
  tables = new Map();
  event = null;
  round = {};
  seq = null;
  time = new StreamTime();
  connection = 'connecting';
  ready = false;
  incidents = [];
  hello = {};
  #listeners = new Set();
  #stream;
  #live = false;

  constructor({ query } = {}) {
    this.#stream = new Stream({
      query,
      from: () => this.seq,
      onMessage: (message) => this.apply(message),
      onState: (state) => { this.connection = state; if (state !== 'open') this.time.reset(); this.#tell('connection', null); },
    });
  }

  connect() {
    this.#stream.open();
  }

  /** Calls back with `(kind, table number or null, message)`. Returns the way to stop it. */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tables by number. */
  sorted() {
    return [...this.tables.values()].sort((a, b) => a.table - b.table);
  }

  /** Now, in the stream's time. */
  now() {
    return this.time.now();
  }

  apply(message) {
    if (typeof message?.type !== 'string') return;
    if (typeof message.now === 'number') this.time.note(message.now);
    if (message.type === 'hello') return this.#hello(message);
    if (message.type === 'snapshot') return this.#snapshot(message);
    if (message.type === 'heartbeat') return undefined;
    // A resumed stream may repeat what was known; folding it twice would not be wrong, but slow.
    if (typeof message.seq === 'number') {
      if (this.seq !== null && message.seq <= this.seq) return undefined;
      this.seq = message.seq;
    }
    if (typeof message.at === 'number') this.time.note(message.at);
    if (message.table === undefined || message.table === null) return this.#hall(message);
    let table = this.tables.get(message.table);
    if (!table) {
      table = newTable(message.table);
      this.tables.set(message.table, table);
      this.#tell('tables', null, message);
    }
    return this.#table(table, message);
  }

  #hello(message) {
    this.hello = message;
    if (message.event) this.event = message.event;
    // Another journal: numbers of the old one mean nothing here.
    if (this.seq !== null && typeof message.seq === 'number' && message.seq < this.seq) this.seq = null;
    this.#tell('hello', null, message);
  }

  #snapshot(message) {
    const before = this.tables;
    this.tables = new Map();
    for (const data of message.tables ?? []) {
      const table = newTable(data.table);
      const old = before.get(data.table);
      Object.assign(table, data);
      table.plies ??= [];
      table.alerts = new Map((data.alerts ?? []).map((alert) => [alert.id, alert]));
      if (old && old.game === table.game) { table.touches = old.touches; table.presses = old.presses; table.answer = old.answer; }
      this.tables.set(data.table, table);
    }
    this.seq = message.seq ?? null;
    this.#round(message.round);
    this.ready = true;
    this.#tell('snapshot', null, message);
  }

  #round(round) {
    if (round === null || round === undefined) return;
    this.round = typeof round === 'object' ? round : { round };
    if (this.round.event) this.event = this.round.event;
    this.time.delay = this.round.delay_seconds ?? 0;
  }

  #hall(message) {
    if (message.type === 'round') this.#round(message.round);
    if (message.type === 'incident') this.incidents.push(message.incident);
    this.#tell(message.type, null, message);
  }

  #table(table, message) {
    switch (message.type) {
      case 'ply': {
        const { ply } = message;
        const index = ply.n - 1;
        // A hole would show a wrong game: ask for everything anew.
        if (index > table.plies.length) return this.#resync();
        const old = table.plies[index];
        if (ply.replaces !== null && ply.replaces !== undefined) table.plies.length = Math.min(table.plies.length, index);
        if (old && old.uci !== ply.uci && old.state === 'confirmed') { ply.corrected = true; table.correctedAt = index; }
        table.plies[index] = ply;
        break;
      }
      case 'undo': {
        const index = message.from - 1;
        if (table.plies[index]?.state === 'confirmed') table.correctedAt = index;
        table.plies.length = Math.min(table.plies.length, index);
        break;
      }
      case 'clock': {
        const was = table.clock?.running;
        table.clock = message.clock;
        if (was !== message.clock.running) this.#press(table, message.clock);
        break;
      }
      case 'result':
        table.result = message.result;
        break;
      case 'table': {
        if (message.game !== table.game) {
          table.plies = [];
          table.result = null;
          table.alerts = new Map();
          table.answer = null;
        }
        const { type, seq, at, ...info } = message;
        // The same players again are the same object, so that nothing is drawn anew.
        if (JSON.stringify(info.players) === JSON.stringify(table.players)) info.players = table.players;
        Object.assign(table, info);
        break;
      }
      case 'sensed':
        table.sensed = message.board;
        if (message.change) {
          table.touches.push({ at: message.at, ...message.change });
          if (table.touches.length > TOUCHES) table.touches.shift();
        }
        break;
      case 'alert':
        table.alerts.set(message.alert.id, message.alert);
        break;
      case 'answer':
        table.answer = message.answer;
        break;
      case 'incident':
        this.incidents.push({ table: table.table, ...message.incident });
        break;
      default:
    }
    this.#tell(message.type, table.table, message);
    return undefined;
  }

  #press(table, clock) {
    table.presses.push({ at: clock.at, running: clock.running });
    if (table.presses.length > 200) table.presses.shift();
  }

  #resync() {
    this.seq = null;
    this.#stream.open();
  }

  #tell(kind, table, message) {
    for (const listener of this.#listeners) listener(kind, table, message);
  }
}

/** The position of a table after its last ply, or after ply `index` (-1 = the start). */
export function fenAt(table, index = table.plies.length - 1) {
  if (index >= table.plies.length - 1 && table.set?.after === table.plies.length) return table.set.fen;
  return index < 0 ? table.start : table.plies[Math.min(index, table.plies.length - 1)]?.fen ?? table.start;
}

/** Collects changed tables and hands them over once a frame. */
export function batch(render) {
  const dirty = new Set();
  let asked = false;
  const flush = () => {
    asked = false;
    const now = [...dirty];
    dirty.clear();
    render(now);
  };
  return (key) => {
    dirty.add(key);
    if (!asked) { asked = true; requestAnimationFrame(flush); }
  };
}
