// Both pages against the daemon itself: simulated boards on real pseudo-terminals, hands that make
// mistakes. Needs the program's path in ARBITERD; without it there is nothing to test.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Daemon, Line, skip } from './daemon.mjs';
import { accessible, done, newPage, OUT, placement, quit, until } from './harness.mjs';

const LONG = 150_000;
let hall;
let desk;
let viewer;

before(async () => {
  if (skip) return;
  hall = await Daemon.demo('--boards', '8', '--speed', '6');
  ({ desk, viewer } = hall);
});

after(async () => {
  await quit();
  await hall?.stop();
});

const tables = () => hall.tables();

test('the first view is light, comes in few requests, and is not asked for twice', { skip }, async (context) => {
  for (const [name, address, ready] of [['viewer', viewer, '.tile >> nth=7'], ['desk', desk, 'nav a']]) {
    const page = await newPage();
    const answers = [];
    page.on('response', (response) => answers.push(response));
    const begun = performance.now();
    await page.goto(address);
    await page.waitForSelector(ready);
    const shown = Math.round(performance.now() - begun);
    await page.waitForTimeout(300);
    const sizes = await Promise.all(answers.map((response) => response.body().then((body) => body.length, () => 0)));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    context.diagnostic(`${name}: ${bytes} bytes in ${answers.length} answers, shown after ${shown} ms`);
    assert.ok(bytes > 20_000 && bytes < 150_000, `${name}: ${bytes} bytes`);
    assert.ok(answers.length < 32, `${name}: ${answers.length} requests`);
    const files = answers.filter((response) => new URL(response.url()).pathname.startsWith('/web/'));
    assert.ok(files.length > 10 && files.every((response) => /immutable/.test(response.headers()['cache-control'])), 'every file is kept by the browser');
    await done(page);
  }
});

test('an arbiter gets an alert from a simulated board, opens its trace, and resolves it', { skip }, async () => {
  const page = await newPage();
  await page.goto(desk);
  await page.waitForSelector('nav a');
  // The hand that adjusts, slides or knocks something over comes early in these games.
  await page.waitForSelector('.alert .what', { timeout: LONG });
  const card = page.locator('.alert').first();
  const what = await card.locator('.what').textContent();
  const trace = await card.locator('a[href*="/trace"]').getAttribute('href');
  await accessible(page, 'attention, live');
  await page.screenshot({ path: join(OUT, 'desk.png') });
  await page.goto(`${desk}/${trace}`);
  await until(async () => (await page.locator('.touches li').count()) >= 1, 'the trace shows touches');
  await page.screenshot({ path: join(OUT, 'trace.png') });
  await page.goto(`${desk}/#/`);
  const mine = page.locator('.alert', { hasText: what }).first();
  await mine.getByRole('button', { name: 'Resolve' }).click();
  await page.keyboard.type('Looked at the board; all is right.');
  await page.locator('dialog .primary').click();
  await until(async () => JSON.stringify(await (await fetch(`${desk}/api/v1/incidents`)).json()).includes('all is right'), 'the note is in the log');
  await page.goto(`${desk}/#/log`);
  await until(async () => (await page.locator('.log').innerText()).includes('all is right'), 'and on the page');
  await done(page);
});

test('a claim is entered and answered', { skip }, async () => {
  const playing = await until(async () => (await tables()).find((table) => table.status === 'playing' && table.plies.length >= 6 && !table.result), 'a game in play', LONG);
  const page = await newPage({ locale: 'ru-RU' });
  await page.goto(`${desk}/#/table/${playing.table}`);
  await page.waitForSelector('.entries');
  await page.getByRole('button', { name: 'Заявление', exact: true }).click();
  await page.getByRole('button', { name: 'Проверить заявление' }).click();
  await page.waitForSelector('.answer.invalid');
  assert.equal(await page.locator('.verdict').textContent(), 'Заявление необоснованное');
  assert.ok((await page.locator('.answer').innerText()).length > 30, 'and why');
  await done(page);
});

test('a ply is corrected and the correction taken back', { skip }, async () => {
  const table = await until(async () => (await tables()).find((one) => one.plies.length >= 4 && !one.result), 'a game with moves', LONG);
  const page = await newPage();
  await page.goto(`${desk}/#/table/${table.table}`);
  const now = async () => (await tables()).find((one) => one.table === table.table);
  const first = table.plies[0].uci;
  const other = first === 'a2a3' ? 'h2h3' : 'a2a3';
  await page.locator('.moves button').first().click();
  await page.getByRole('button', { name: 'Replace this move' }).click();
  await page.fill('dialog input[type=text]', other);
  await page.locator('dialog .primary').click();
  await until(async () => (await now()).plies[0].uci === other, 'the daemon took it');
  await until(async () => (await page.locator('.moves .san').first().textContent()) === `${other.slice(2)}`, 'and the page shows it');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await until(async () => (await now()).plies[0].uci === first, 'taken back');
  await done(page);
});

test('the viewer shows each game as the daemon has it', { skip }, async () => {
  const page = await newPage();
  await page.goto(viewer);
  await page.waitForSelector('.tile >> nth=7');
  await until(async () => (await tables()).some((table) => table.plies.length > 12), 'games are under way', LONG);
  await page.screenshot({ path: join(OUT, 'viewer.png') });
  for (let n = 1; n <= 8; n += 1) {
    await until(async () => {
      const table = (await tables()).find((one) => one.table === n);
      return (await placement(page, `.tile[href="#/table/${n}"] .board`)) === table.fen.split(' ')[0];
    }, `table ${n}`, 30_000);
  }
  await accessible(page, 'viewer, live');
  const pgn = await (await fetch(`${viewer}/round/current/games.pgn`)).text();
  assert.match(pgn, /\[White "Anderssen, Adolf"\]/);
  await page.goto(`${viewer}/#/table/3`);
  const answer = await page.request.get(`${viewer}${await page.getAttribute('.links a', 'href')}`);
  assert.equal(answer.status(), 200);
  await page.goto(`${viewer}/wall`);
  await page.waitForSelector('.tile >> nth=7');
  await done(page);
});

test('a file of pairings is read, its repairs are shown, and nothing changes before it is confirmed', { skip }, async () => {
  const pgn = '[Event "Club evening"]\n[Site "?"]\n[Date "2026.05.02"]\n[Round "2"]\n[White "First, A"]\n[Black "Second, B"]\n[WhiteElo "-"]\n[Result "*"]\n\n*\n\n'
    + '[Event "Club evening"]\n[Site "?"]\n[Date "2026.05.02"]\n[Round "2"]\n[White "Third, C"]\n[Black "Fourth, D"]\n[Result "*"]\n\n*\n';
  const page = await newPage({ offlineIsFine: true });
  await page.goto(`${desk}/#/round`);
  await page.waitForSelector('.checks tbody tr >> nth=7');
  const before = (await tables()).map((table) => table.players.white.name);
  await page.setInputFiles('#import-file', { name: 'round.pgn', mimeType: 'application/x-chess-pgn', buffer: Buffer.from(pgn) });
  await page.waitForSelector('dialog .pairings');
  assert.deepEqual(await page.locator('.pairings li div').allTextContents(), ['First, A – Second, B', 'Third, C – Fourth, D']);
  assert.match(await page.locator('dialog p').first().textContent(), /Round 2: 2 tables/);
  await accessible(page, 'import');
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual((await tables()).map((table) => table.players.white.name), before);
  await page.setInputFiles('#import-file', { name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from('Dear arbiter, no pairings here.') });
  await until(async () => /Refused/.test(await page.locator('.toast').last().innerText()), 'what is no file of pairings is refused in words');
  await done(page);
});

test('every board is listed where it stands, is taken away and put back', { skip }, async () => {
  const page = await newPage();
  await page.goto(`${desk}/#/event`);
  await page.waitForSelector('.event-view .results li >> nth=7');
  await accessible(page, 'event, live');
  const row = page.locator('.event-view .results li', { hasText: 'Table 8' });
  await row.getByRole('button', { name: /Take away/ }).click();
  const sure = page.locator('dialog .danger');
  await until(async () => (await sure.count()) > 0 || !(await tables()).find((one) => one.table === 8).link.board, 'taken away, or asked first');
  if (await sure.count()) await sure.click();
  await until(async () => !(await tables()).find((one) => one.table === 8).link.board, 'the board is free');
  const free = page.locator('.event-view .results li', { hasText: 'no table' });
  await free.locator('select').selectOption('8');
  await until(async () => (await tables()).find((one) => one.table === 8).link.board, 'and put back');
  await done(page);
});

test('a spectator follows 64 boards, loses the line and comes back right', { skip }, async (context) => {
  const large = await Daemon.demo('--boards', '64', '--speed', '1');
  context.after(() => large.stop());
  const line = new Line(large.viewer);
  const address = await line.open();
  context.after(() => line.cut().catch(() => {}));
  const page = await newPage({ offlineIsFine: true });
  await page.goto(address);
  await page.waitForSelector('.tile >> nth=63');
  const plies = async () => (await large.tables()).reduce((sum, table) => sum + table.plies.length, 0);
  await until(async () => (await plies()) >= 64, 'games are under way', LONG);
  await line.cut();
  await until(async () => (await page.getAttribute('.connection', 'data-state')) === 'waiting', 'it says that the line is lost');
  const lost = await plies();
  await until(async () => (await plies()) >= lost + 32, 'play goes on meanwhile', LONG);
  await line.mend();
  await until(async () => (await page.getAttribute('.connection', 'data-state')) === 'open', 'it comes back', 40_000);
  for (let n = 1; n <= 64; n += 1) {
    await until(async () => {
      const table = (await large.tables()).find((one) => one.table === n);
      return (await placement(page, `.tile[href="#/table/${n}"] .board`)) === table.fen.split(' ')[0];
    }, `table ${n} after the gap`, 30_000);
  }
  const held = await plies();
  await until(async () => (await plies()) > held + 10, 'and play goes on', LONG);
  await page.goto(`${address}/wall`);
  await page.waitForSelector('.tile >> nth=63', { state: 'attached' });
  assert.doesNotMatch(await page.locator('main').innerText(), /\d+(\.|…) ?[KQRBNa-hO]/, 'no move numbers on the wall');
  await done(page);
});
