// A stand-in for the daemon: serves the pages' files with the strict policy, and plays games on both
// listeners in the stream's own words. For tests of the pages alone, and for work on them by hand:
// `node mock.mjs [boards] [milliseconds a ply]`.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Chess } from 'chess.js';
import { WebSocketServer } from 'ws';

const WEB = fileURLToPath(new URL('../../src/serve/web/', import.meta.url));
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml', html: 'text/html; charset=utf-8', json: 'application/json', jpg: 'image/jpeg' };
export const TOKEN = 'mock-token';

// Games of the nineteenth century, long in the public domain.
const GAMES = [
  ['Anderssen, Adolf', 'Kieseritzky, Lionel', '1-0', 'e4 e5 f4 exf4 Bc4 Qh4+ Kf1 b5 Bxb5 Nf6 Nf3 Qh6 d3 Nh5 Nh4 Qg5 Nf5 c6 g4 Nf6 Rg1 cxb5 h4 Qg6 h5 Qg5 Qf3 Ng8 Bxf4 Qf6 Nc3 Bc5 Nd5 Qxb2 Bd6 Bxg1 e5 Qxa1+ Ke2 Na6 Nxg7+ Kd8 Qf6+ Nxf6 Be7#'],
  ['Morphy, Paul', 'Duke Karl / Count Isouard', '1-0', 'e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#'],
  ['Anderssen, Adolf', 'Dufresne, Jean', '1-0', 'e4 e5 Nf3 Nc6 Bc4 Bc5 b4 Bxb4 c3 Ba5 d4 exd4 O-O d3 Qb3 Qf6 e5 Qg6 Re1 Nge7 Ba3 b5 Qxb5 Rb8 Qa4 Bb6 Nbd2 Bb7 Ne4 Qf5 Bxd3 Qh5 Nf6+ gxf6 exf6 Rg8 Rad1 Qxf3 Rxe7+ Nxe7 Qxd7+ Kxd7 Bf5+ Ke8 Bd7+ Kf8 Bxe7#'],
  ['Paulsen, Louis', 'Morphy, Paul', '0-1', 'e4 e5 Nf3 Nc6 Nc3 Nf6 Bb5 Bc5 O-O O-O Nxe5 Re8 Nxc6 dxc6 Bc4 b5 Be2 Nxe4 Nxe4 Rxe4 Bf3 Re6 c3 Qd3 b4 Bb6 a4 bxa4 Qxa4 Bd7 Ra2 Rae8 Qa6 Qxf3 gxf3 Rg6+ Kh1 Bh3 Rd1 Bg2+ Kg1 Bxf3+ Kf1 Bg2+ Kg1 Bh3+ Kh1 Bxf2 Qf1 Bxf1 Rxf1 Re2 Ra1 Rh6 d4 Be3'],
  ['Steinitz, William', 'von Bardeleben, Curt', '1-0', 'e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d4 exd4 cxd4 Bb4+ Nc3 d5 exd5 Nxd5 O-O Be6 Bg5 Be7 Bxd5 Bxd5 Nxd5 Qxd5 Bxe7 Nxe7 Re1 f6 Qe2 Qd7 Rac1 c6 d5 cxd5 Nd4 Kf7 Ne6 Rhc8 Qg4 g6 Ng5+ Ke8 Rxe7+ Kf8 Rf7+ Kg8 Rg7+ Kh8 Rxh7+'],
  ['Zukertort, Johannes', 'Blackburne, Joseph', '1-0', 'c4 e6 e3 Nf6 Nf3 b6 Be2 Bb7 O-O d5 d4 Bd6 Nc3 O-O b3 Nbd7 Bb2 Qe7 Nb5 Ne4 Nxd6 cxd6 Nd2 Ndf6 f3 Nxd2 Qxd2 dxc4 Bxc4 d5 Bd3 Rfc8 Rae1 Rc7 e4 Rac8 e5 Ne8 f4 g6 Re3 f5 exf6 Nxf6 f5 Ne4 Bxe4 dxe4 fxg6 Rc2 gxh7+ Kh8 d5+ e5 Qb4 R8c5 Rf8+ Kxh7 Qxe4+ Kg7 Bxe5+ Kxf8 Bg7+ Kg8 Qxe7'],
  ['Lasker, Emanuel', 'Bauer, Johann', '1-0', 'f4 d5 e3 Nf6 b3 e6 Bb2 Be7 Bd3 b6 Nf3 Bb7 Nc3 Nbd7 O-O O-O Ne2 c5 Ng3 Qc7 Ne5 Nxe5 Bxe5 Qc6 Qe2 a6 Nh5 Nxh5 Bxh7+ Kxh7 Qxh5+ Kg8 Bxg7 Kxg7 Qg4+ Kh7 Rf3 e5 Rh3+ Qh6 Rxh6+ Kxh6 Qd7 Bf6 Qxb7'],
  ['Pillsbury, Harry', 'Tarrasch, Siegbert', '1-0', 'd4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 Nf3 Nbd7 Rc1 O-O e3 b6 cxd5 exd5 Bd3 Bb7 O-O c5 Re1 c4 Bb1 a6 Ne5 b5 f4 Re8 Qf3 Nf8 Ne2 Ne4 Bxe7 Rxe7 Bxe4 dxe4 Qg3 f6 Ng4 Kh8 f5 Qd7 Rf1 Rd8 Rf4 Qd6 Qh4 Rde8 Nc3 Bd5 Nf2 Qc6 Rf1 b4 Ne2 Qa4 Ng4 Nd7'],
];

function written(game) {
  const chess = new Chess();
  return game[3].split(' ').map((san) => {
    const move = chess.move(san);
    return { uci: move.from + move.to + (move.promotion ?? ''), san: move.san, fen: chess.fen() };
  });
}
const SCRIPTS = GAMES.map((game) => ({ white: game[0], black: game[1], result: game[2], plies: written(game) }));
const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';

export class Mock {
  seq = 0;
  log = [];
  clients = new Set();
  commands = [];
  incidents = [];

  /** `begun(n)`: plies already played on table n at the start. */
  constructor({ boards = 8, delay = 0, teams = false, players = null, begun = (n) => (n * 7) % 30, role = 'chief-arbiter' } = {}) {
    this.delay = delay;
    this.role = role;
    this.tables = new Map();
    for (let n = 1; n <= boards; n += 1) {
      const script = SCRIPTS[(n - 1) % SCRIPTS.length];
      const person = (name, side) => ({ name, title: n % 3 === 1 ? 'GM' : undefined, federation: ['GER', 'USA', 'FRA', 'AUT'][(n + side) % 4], rating: 2400 + ((n * 37 + side * 11) % 300), team: teams ? `Club ${'AB'[(n + side) % 2]}${Math.ceil(n / 4)}` : undefined });
      const done = Math.min(begun(n), script.plies.length);
      const table = {
        table: n, round: 3, game: n, players: players?.(n) ?? { white: person(script.white, 0), black: person(script.black, 1) }, status: done ? 'playing' : 'armed', start: START, chess960: false,
        time_control: '40/5400+30:1800+30', link: { online: true, board: `4${5000 + n}`, clock: true, rotated: false, model: 'DGT e-Board', battery: null },
        profile: 'fide-2023/classical', counts: {}, plies: [], clock: { white: 5400 - n * 31, black: 5400 - n * 47, running: null, at: Date.now() }, result: null, sensed: '', alerts: [], script, at: 0,
      };
      this.tables.set(n, table);
      for (let i = 0; i < done; i += 1) this.advance(table, false);
      table.sensed = (table.plies.at(-1)?.fen ?? START).split(' ')[0];
    }
  }

  /** The next ply of a table as written. */
  advance(table, tell = true) {
    const { script } = table;
    const next = script.plies[table.plies.length];
    if (!next) {
      if (!table.result) this.result(table, { value: script.result, reason: script.plies.at(-1).san.endsWith('#') ? 'checkmate' : 'resignation', state: 'final' }, tell);
      return;
    }
    const n = table.plies.length + 1;
    const mover = n % 2 ? 'white' : 'black';
    const now = Date.now();
    if (table.clock.running === mover) table.clock[mover] = Math.max(0, table.clock[mover] - Math.round((now - table.clock.at) / 1000) + 30);
    const ply = { n, ...next, state: 'confirmed', replaces: null, clock: { white: table.clock.white, black: table.clock.black }, elapsed: 12, illegal: false, source: 'board' };
    if (tell && table.plies.length) table.plies.at(-1).state = 'confirmed';
    table.plies.push(ply);
    table.status = 'playing';
    table.clock = { ...table.clock, running: mover === 'white' ? 'black' : 'white', at: now };
    if (!tell) return;
    const from = next.uci.slice(0, 2);
    const to = next.uci.slice(2, 4);
    const before = new Chess(ply.n > 1 ? table.plies[ply.n - 2].fen : table.start).get(from);
    const letter = before.color === 'w' ? before.type.toUpperCase() : before.type;
    this.touch(table, from, letter, null);
    table.sensed = next.fen.split(' ')[0];
    this.touch(table, to, null, letter);
    this.send({ type: 'ply', table: table.table, ply: { ...ply, state: 'provisional' } });
    this.send({ type: 'clock', table: table.table, clock: table.clock });
    this.send({ type: 'ply', table: table.table, ply: { ...ply, replaces: null } });
  }

  touch(table, square, from, to) {
    this.send({ type: 'sensed', table: table.table, board: table.sensed, change: { square, from, to } }, true);
  }

  result(table, result, tell = true) {
    table.result = result;
    table.status = 'ended';
    table.clock = { ...table.clock, running: null };
    if (tell) { this.send({ type: 'result', table: table.table, result }); this.send({ type: 'clock', table: table.table, clock: table.clock }); }
  }

  alert(table, alert, update = false) {
    const t = this.tables.get(table);
    const full = {
      id: alert.id ?? t.alerts.length + 1, code: 'illegal-move-completed', side: 'white', severity: 'go-now', certainty: 'certain', audience: 'arbiter', article: '7.5.1', profile: 'fide-2023/classical',
      at: new Date().toISOString(), ply: t.plies.length, text: { en: '', ru: '' }, advice: {}, deadline: null, evidence: [], state: 'open', ...alert,
    };
    if (update) t.alerts = t.alerts.map((old) => (old.id === full.id ? full : old));
    else t.alerts.push(full);
    this.send({ type: 'alert', table, alert: full }, true);
    return full;
  }

  send(message, deskOnly = false) {
    this.seq += 1;
    const full = { ...message, seq: this.seq, at: Date.now() };
    const text = JSON.stringify(full);
    this.log.push({ seq: this.seq, text, deskOnly, table: message.table });
    if (this.log.length > 2000) this.log.shift();
    for (const client of this.clients) {
      if (deskOnly && !client.desk) continue;
      if (client.only && message.table && !client.only.includes(message.table)) continue;
      client.socket.send(text);
    }
  }

  shown(table, desk) {
    const { script, at, link, counts, profile, sensed, alerts, ...rest } = table;
    const message = { ...rest, fen: table.plies.at(-1)?.fen ?? table.start, link: desk ? link : { online: link.online } };
    if (desk) Object.assign(message, { counts, profile, sensed, alerts: alerts.filter((a) => a.state === 'open' || a.state === 'acknowledged') });
    return message;
  }

  round() {
    return { event: { id: 'old-school', name: 'Masters of the Old School', site: '', profile: 'fide-2023/classical', time_control: '40/5400+30:1800+30', rounds: 9, delay_seconds: this.delay }, number: 3, date: '2026-05-01', delay_seconds: this.delay, live: true };
  }

  snapshot(client) {
    const tables = [...this.tables.values()].filter((t) => !client.only || client.only.includes(t.table)).map((t) => this.shown(t, client.desk));
    return JSON.stringify({ type: 'snapshot', seq: this.seq, round: this.round(), tables });
  }

  /** What the desk orders. */
  command(command) {
    this.commands.push(command);
    const table = this.tables.get(command.table);
    const entry = command.entry ?? {};
    if (command.do === 'entry' && (entry.act === 'acknowledge' || entry.act === 'resolve')) {
      const alert = table.alerts.find((a) => a.id === entry.alert);
      if (alert) this.alert(table.table, { ...alert, state: entry.act === 'resolve' ? 'resolved' : 'acknowledged', note: entry.note, by: 'chief' }, true);
    } else if (command.do === 'entry' && entry.act === 'result') this.result(table, { value: entry.result, reason: 'entered', state: 'final' });
    else if (command.do === 'entry' && entry.act === 'claim') {
      const cut = (index) => ({ ply: index + 1, fen: table.plies[index].fen, move: table.plies[index].san });
      this.send({ type: 'answer', table: table.table, answer: this.answer?.(table, entry, cut) ?? { act: 'claim', kind: entry.kind, side: entry.side, article: '9.2.2', valid: false, halfmoves: 3, occurrences: [1], positions: [cut(0)], penalty: { to: 'b', add_s: 120 }, text: { en: 'Not valid: the position occurred once.', ru: 'Необоснованно: позиция появилась один раз.' } } }, true);
    } else if (command.do === 'correct' && command.correction.what === 'replace-ply') {
      const { index, uci } = command.correction;
      table.undo = table.plies.slice();
      const chess = new Chess(index ? table.plies[index - 1].fen : table.start);
      const move = chess.move({ from: uci.slice(0, 2), to: uci.slice(2, 4), promotion: uci[4] });
      table.plies.length = index;
      const ply = { n: index + 1, uci, san: move.san, fen: chess.fen(), state: 'confirmed', replaces: index + 1, clock: { white: null, black: null }, elapsed: null, illegal: false, source: 'entered' };
      table.plies.push(ply);
      this.send({ type: 'ply', table: table.table, ply });
    } else if (command.do === 'correct' && command.correction.what === 'undo' && table.undo) {
      const old = table.undo;
      const from = old.findIndex((ply, i) => ply.uci !== table.plies[i]?.uci);
      table.plies = old;
      old.slice(from).forEach((ply, i) => this.send({ type: 'ply', table: table.table, ply: { ...ply, replaces: i === 0 ? ply.n : null } }));
    }
    this.incidents.push({ at: new Date().toISOString(), by: 'chief', table: command.table, command });
    this.send({ type: 'incident', table: command.table, incident: this.incidents.at(-1) }, true);
    return { ok: true, seq: this.seq };
  }

  async listen(desk, port = 0) {
    const server = createServer((request, response) => this.serve(request, response, desk).catch((error) => { response.statusCode = 500; response.end(String(error)); }));
    const sockets = new WebSocketServer({ server, path: '/ws', verifyClient: (info) => !desk || this.signedIn(info.req) });
    sockets.on('connection', (socket, request) => {
      const query = new URL(request.url, 'http://x').searchParams;
      const only = query.get('tables')?.split(',').map(Number) ?? null;
      const client = { socket, desk, only };
      socket.send(JSON.stringify({ type: 'hello', version: 1, event: this.round().event, seq: this.seq }));
      const from = query.get('from');
      const first = this.log[0]?.seq ?? this.seq + 1;
      if (from !== null && Number(from) + 1 >= first && Number(from) <= this.seq) {
        for (const entry of this.log) if (entry.seq > Number(from) && (desk || !entry.deskOnly) && (!only || !entry.table || only.includes(entry.table))) socket.send(entry.text);
      } else socket.send(this.snapshot(client));
      this.clients.add(client);
      socket.on('close', () => this.clients.delete(client));
    });
    await new Promise((done) => server.listen(port, '127.0.0.1', done));
    (this.servers ??= []).push(server);
    return `http://127.0.0.1:${server.address().port}`;
  }

  signedIn(request) {
    return (request.headers.cookie ?? '').includes(`arbiterd_desk=${TOKEN}`);
  }

  async serve(request, response, desk) {
    const { pathname } = new URL(request.url, 'http://x');
    response.setHeader('Content-Security-Policy', `default-src 'self'; frame-ancestors ${pathname === '/embed' ? '*' : "'none'"}`);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    const json = (code, body) => { response.statusCode = code; response.setHeader('Content-Type', 'application/json'); response.end(JSON.stringify(body)); };
    if (desk && pathname === '/readyz') {
      if (this.trouble) return json(503, { title: 'not ready', status: 503, detail: this.trouble });
      response.setHeader('Content-Type', 'text/plain; charset=utf-8');
      return response.end('ready\n');
    }
    if (desk && pathname.startsWith('/api/')) {
      let body = '';
      for await (const part of request) body += part;
      if (pathname === '/api/v1/session' && request.method === 'POST') {
        if (JSON.parse(body).token !== TOKEN) return json(401, { title: 'sign in', status: 401, detail: 'this token is not known, or was revoked; ask for a new sign-in link' });
        response.setHeader('Set-Cookie', `arbiterd_desk=${TOKEN}; HttpOnly; SameSite=Strict; Path=/`);
        return json(200, { name: 'chief', role: this.role });
      }
      if (!this.signedIn(request)) return json(401, { title: 'sign in', status: 401, detail: 'open the sign-in link' });
      if (pathname === '/api/v1/session' && request.method === 'DELETE') { response.setHeader('Set-Cookie', 'arbiterd_desk=; Path=/; Max-Age=0'); return json(200, {}); }
      if (pathname === '/api/v1/me') return json(200, { name: 'chief', role: this.role, tables: null });
      if (pathname === '/api/v1/round/check') return json(200, { round: 3, ready: this.tables.size, total: this.tables.size, tables: [...this.tables.keys()].map((table) => ({ table, section: '', players: 'good', assigned: 'good', online: 'good', position: 'good', squares: [], clock: 'good', time: 'good', expected_seconds: 5400, shown_seconds: [5400, 5400], battery: 'unknown', battery_percent: null, ready: true, playing: false })) });
      if (pathname === '/api/v1/tables') return json(200, [...this.tables.values()].map((t) => this.shown(t, true)));
      if (pathname === '/api/v1/incidents') return json(200, this.incidents);
      if (['/api/v1/protocols', '/api/v1/links', '/api/v1/imports'].includes(pathname)) return json(200, []);
      if (request.method === 'POST' && pathname === '/api/v1/import') return json(200, this.imported?.(body) ?? { draft: { round: 4, pairings: [] }, notes: [] });
      if (request.method === 'POST' && pathname === '/api/v1/command') return json(200, this.command(JSON.parse(body)));
      const trace = pathname.match(/^\/api\/v1\/tables\/(\d+)\/trace$/);
      if (trace) return json(200, this.trace?.(Number(trace[1])) ?? { table: Number(trace[1]), touches: [] });
      return json(404, { title: 'not here', status: 404, detail: pathname });
    }
    if (pathname.endsWith('.pgn')) { response.setHeader('Content-Type', 'application/x-chess-pgn; charset=utf-8'); return response.end('[Event "?"]\n\n*\n'); }
    const page = pathname === '/' || (!desk && (pathname === '/wall' || pathname === '/embed'));
    const file = page ? `${desk ? 'desk' : 'viewer'}/index.html` : pathname.replace(/^\/web\//, '');
    if (!page && (!pathname.startsWith('/web/') || file.includes('..'))) { response.statusCode = 404; return response.end('not found'); }
    try {
      const bytes = await readFile(WEB + file);
      response.setHeader('Content-Type', TYPES[file.split('.').pop()] ?? 'application/octet-stream');
      return response.end(bytes);
    } catch {
      response.statusCode = 404;
      return response.end('not found');
    }
  }

  /** Plays one ply on each table about every so many milliseconds, for ever. */
  run(milliseconds) {
    const timers = [];
    for (const table of this.tables.values()) {
      const go = () => {
        if (table.result) this.restart(table);
        else this.advance(table);
        timers[table.table] = setTimeout(go, milliseconds * (0.5 + Math.random()));
      };
      timers[table.table] = setTimeout(go, milliseconds * Math.random());
    }
    this.timers = timers;
  }

  restart(table) {
    table.plies = [];
    table.result = null;
    table.game += 1000;
    table.status = 'armed';
    const { plies, ...info } = this.shown(table, true);
    this.send({ type: 'table', ...info });
  }

  /** Cuts every connection and, until `again`, refuses new ones. */
  async close() {
    this.timers?.forEach(clearTimeout);
    for (const client of this.clients) client.socket.terminate();
    await Promise.all((this.servers ?? []).map((server) => new Promise((done) => { server.close(done); server.closeAllConnections(); })));
    this.servers = [];
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mock = new Mock({ boards: Number(process.argv[2]) || 8, delay: Number(process.env.DELAY) || 0, teams: Boolean(process.env.TEAMS) });
  console.log('desk  ', `${await mock.listen(true, 9180)}/#token=${TOKEN}`);
  console.log('public', await mock.listen(false, 9181));
  const { touches, trouble } = await import('./scene.mjs');
  trouble(mock);
  const begun = Date.now();
  mock.trace = (n) => ({ table: n, touches: touches(begun) });
  mock.run(Number(process.argv[3]) || 3000);
}
