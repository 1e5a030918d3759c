// Starting the daemon for a test, and a line to it that can be cut.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './harness.mjs';

export const program = process.env.ARBITERD;
export const skip = program ? false : 'ARBITERD names no program';

/** A daemon with what it said; `desk` and `viewer` are its addresses. */
export class Daemon {
  constructor(folder, child) {
    this.folder = folder;
    this.child = child;
    this.said = '';
    child.stdout.on('data', (bytes) => { this.said += bytes; });
  }

  /** A simulated hall. */
  static async demo(...args) {
    const folder = mkdtempSync(join(tmpdir(), 'arbiterd-browser-'));
    const daemon = new Daemon(folder, spawn(program, ['demo', '--dir', join(folder, 'demo'), ...args], { stdio: ['ignore', 'pipe', 'inherit'] }));
    await daemon.#listens();
    return daemon;
  }

  /** A hall with this configuration, `people` who may sign in, and no boards. */
  static async run(config, people) {
    const folder = mkdtempSync(join(tmpdir(), 'arbiterd-browser-'));
    const links = {};
    let tokens = '';
    for (const [name, ...args] of people) {
      // The section goes to standard output, the link with the secret to the person alone.
      const made = execFileSync('/bin/sh', ['-c', '"$0" token "$@" 2>&1', program, name, ...args], { encoding: 'utf8' });
      tokens += `\n${made.match(/\[\[token\]\][\s\S]*?sha256 = "[0-9a-f]+"/)[0]}\n`;
      links[name] = made.match(/#token=([0-9a-f]+)/)[1];
    }
    writeFileSync(join(folder, 'hall.toml'), config + tokens);
    const daemon = new Daemon(folder, spawn(program, ['run', '--config', join(folder, 'hall.toml')], { stdio: ['ignore', 'pipe', 'inherit'] }));
    daemon.tokens = links;
    await daemon.#listens();
    return daemon;
  }

  async #listens() {
    await until(() => this.child.exitCode !== null || /^public\s+http\S+/m.test(this.said), 'the daemon says where it listens', 60_000);
    if (this.child.exitCode !== null) throw new Error(`the daemon ended with ${this.child.exitCode}; what it said is above`);
    this.desk = this.said.match(/^desk\s+(http:\/\/[^/\s]+)/m)[1];
    this.viewer = this.said.match(/^public\s+(http:\/\/[^/\s]+)/m)[1];
  }

  /** All tables as the desk has them; `name` signs in. */
  async tables(name) {
    const headers = name ? { Authorization: `Bearer ${this.tokens[name]}` } : {};
    return (await fetch(`${this.desk}/api/v1/tables`, { headers })).json();
  }

  async stop() {
    const gone = new Promise((go) => { this.child.once('exit', go); });
    this.child.kill('SIGTERM');
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A line to an address that can be cut and mended, as a hall's network can. */
export class Line {
  #server = null;
  #sockets = new Set();

  constructor(address) {
    this.to = Number(new URL(address).port);
  }

  async open(port = 0) {
    this.#server = createServer((near) => {
      const far = connect(this.to, '127.0.0.1');
      for (const [one, other] of [[near, far], [far, near]]) {
        this.#sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => { this.#sockets.delete(one); other.destroy(); });
      }
      near.pipe(far);
      far.pipe(near);
    });
    await new Promise((go) => { this.#server.listen(port, '127.0.0.1', go); });
    this.port = this.#server.address().port;
    return `http://127.0.0.1:${this.port}`;
  }

  /** Every connection breaks and no new one is taken. */
  async cut() {
    const closed = new Promise((go) => { this.#server.close(go); });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  mend() {
    return this.open(this.port);
  }
}
