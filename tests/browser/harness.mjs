// Chromium and what every test asks of a page: no error on the console, nothing from elsewhere.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const BROWSERS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const OUT = fileURLToPath(new URL('./out/', import.meta.url));
mkdirSync(OUT, { recursive: true });

let browser = null;

/** The one browser of a test file. */
export async function launch() {
  const executablePath = BROWSERS.find((path) => path && existsSync(path));
  assert.ok(executablePath, 'Chromium is needed: apt-get install chromium, or set CHROMIUM');
  browser ??= await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  return browser;
}

export async function quit() {
  await browser?.close();
  browser = null;
}

/** A page of its own, with its faults collected in `page.faults`. */
export async function newPage({ locale = 'en-GB', width = 1280, height = 800, scheme = 'light', offlineIsFine = false } = {}) {
  const context = await (await launch()).newContext({ viewport: { width, height }, locale, colorScheme: scheme, acceptDownloads: true });
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    if (offlineIsFine && /WebSocket|ERR_|Failed to load resource/.test(message.text())) return;
    page.faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (!['blob:', 'data:'].includes(protocol) && hostname !== '127.0.0.1') page.faults.push(`from elsewhere: ${request.url()}`);
  });
  page.setDefaultTimeout(15_000);
  return page;
}

/** Ends a page; it must have been without fault. */
export async function done(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Holds a page against axe: no serious or critical finding. */
export async function accessible(page, what) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const serious = found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical');
  assert.deepEqual(serious.map((one) => `${what}: ${one.id} ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`), []);
}

/** The men of a board as a FEN placement, read from what is on the screen. */
export function placement(page, selector) {
  return page.locator(selector).first().evaluate((board) => {
    const flipped = board.classList.contains('flipped');
    const squares = new Array(64).fill('');
    for (const man of board.querySelectorAll('i')) {
      const [x, y] = [...man.style.transform.matchAll(/(-?\d+)%/g)].map((match) => Number(match[1]) / 100);
      const seen = y * 8 + x;
      const [colour, role] = man.className;
      squares[flipped ? 63 - seen : seen] = colour === 'w' ? role : role.toLowerCase();
    }
    const rows = [];
    for (let row = 0; row < 8; row += 1) rows.push(squares.slice(row * 8, row * 8 + 8).map((letter) => letter || '.').join('').replace(/\.+/g, (dots) => String(dots.length)));
    return rows.join('/');
  });
}

/** Waits until it holds; the fault says what was found last. */
export async function until(check, what, milliseconds = 10_000) {
  const end = Date.now() + milliseconds;
  let last;
  for (;;) {
    try {
      last = await check();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) assert.fail(`${what}: ${last instanceof Error ? last.message : JSON.stringify(last)}`);
    await new Promise((go) => { setTimeout(go, 60); });
  }
}
