// The desk's side of the HTTP interface: signing in, and orders with what they caused.

/** A refusal, in words for the person at the desk. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function ask(path, { method = 'GET', body, type = 'application/json' } = {}) {
  let answer;
  try {
    answer = await fetch(path, { method, body, headers: body === undefined ? {} : { 'Content-Type': type } });
  } catch {
    throw new Refused(0, '');
  }
  const text = await answer.text();
  let data = null;
  try { data = text ? JSON.parse(text) : null; } catch { data = null; }
  if (!answer.ok) throw new Refused(answer.status, data?.detail || data?.title || answer.statusText);
  return data;
}

/** Who is signed in, or `null`. */
export async function whoAmI() {
  try {
    return await ask('/api/v1/me');
  } catch (refused) {
    if (refused.status === 401) return null;
    throw refused;
  }
}

/** Turns a token into a session. */
export function signIn(token) {
  return ask('/api/v1/session', { method: 'POST', body: JSON.stringify({ token }) });
}

export function signOut() {
  return ask('/api/v1/session', { method: 'DELETE' });
}

/** Gives an order; answers the updates it caused. */
export function order(command) {
  return ask('/api/v1/command', { method: 'POST', body: JSON.stringify(command) });
}

/** An arbiter's entry about a game. */
export function enter(table, entry) {
  return order({ do: 'entry', table, entry });
}

/** A correction of a game. */
export function correct(table, correction) {
  return order({ do: 'correct', table, correction });
}

/** The touches of a table between two moments (ms since 1970). */
export function trace(table, from, to) {
  return ask(`/api/v1/tables/${table}/trace?from=${Math.floor(from)}&to=${Math.ceil(to)}`);
}

export function incidents() {
  return ask('/api/v1/incidents');
}

/** Alerts of every state. */
export function alerts() {
  return ask('/api/v1/alerts');
}

/** Reads a file of pairings without changing anything: `{draft, notes}`. `list` is the text of a list of pairs. */
export function readImport(file, { round = null, list = null } = {}) {
  const query = new URLSearchParams();
  if (round !== null) query.set('round', round);
  if (list !== null) query.set('list', list);
  return ask(`/api/v1/import?${query}`, { method: 'POST', body: file, type: 'application/octet-stream' });
}

/** Reads a typed score sheet against the rules, without changing anything: `{plies, san, fen, fault}`. */
export function readSheet(table, text) {
  return ask(`/api/v1/tables/${table}/read-score`, { method: 'POST', body: text, type: 'text/plain; charset=utf-8' });
}

/** A document of the daemon, by its path under `/api/v1`. */
export function fetchJson(path) {
  return ask(`/api/v1${path}`);
}

/** Orders by path, with a JSON body. */
export function post(path, body = {}) {
  return ask(`/api/v1${path}`, { method: 'POST', body: JSON.stringify(body) });
}
