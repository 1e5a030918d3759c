// The viewer against a stand-in for the daemon.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessible, done, newPage, placement, quit, until } from './harness.mjs';
import { Mock } from './mock.mjs';

after(quit);

const shown = (mock, n) => (mock.tables.get(n).plies.at(-1)?.fen ?? mock.tables.get(n).start).split(' ')[0];

test('shows all games live, finds a player, says how late it is', async () => {
  const mock = new Mock({ boards: 8, delay: 900 });
  const address = await mock.listen(false);
  const page = await newPage();
  await page.goto(address);
  await page.waitForSelector('.tile >> nth=7');
  assert.equal(await page.locator('h1').textContent(), 'Masters of the Old School');
  assert.equal(await page.locator('.delay').textContent(), 'Shown 15 minutes late');
  for (const n of [1, 5, 8]) await until(async () => (await placement(page, `.tile[href="#/table/${n}"] .board`)) === shown(mock, n), `table ${n}`);
  mock.advance(mock.tables.get(3));
  await until(async () => (await placement(page, '.tile[href="#/table/3"] .board')) === shown(mock, 3), 'the move is shown');
  await page.fill('input[type=search]', 'blackburne');
  await until(async () => (await page.locator('.tile:visible').count()) === 1, 'one table fits');
  await page.fill('input[type=search]', '');
  mock.result(mock.tables.get(2), { value: '1/2-1/2', reason: 'draw-agreed', state: 'final' });
  await until(async () => (await page.locator('.tile[href="#/table/2"] .result').textContent()) === '½–½', 'the result is shown');
  await accessible(page, 'grid');
  await done(page);
  await mock.close();
});

test('names stay text, whatever is in them', async () => {
  const evil = '<img src=x onerror="globalThis.bad=1"><script>globalThis.bad=2</script>';
  const mock = new Mock({ boards: 1, players: () => ({ white: { name: evil, title: '<b>GM</b>', federation: '<i>' }, black: { name: '"&amp;\u202e' } }) });
  const address = await mock.listen(false);
  const page = await newPage();
  for (const path of ['/', '/#/table/1', '/wall', '/embed?table=1']) {
    await page.goto(address + path);
    await until(async () => (await page.locator('.player .name').allTextContents()).includes(evil), path);
    assert.equal(await page.evaluate(() => document.querySelectorAll('.player img, .player b, .player script').length), 0);
    assert.equal(await page.evaluate(() => globalThis.bad), undefined);
  }
  await done(page);
  await mock.close();
});

test('steps back through a game while it goes on, and a correction is told calmly', async () => {
  const mock = new Mock({ boards: 2, begun: () => 10 });
  const address = await mock.listen(false);
  const page = await newPage();
  await page.goto(`${address}/#/table/1`);
  const table = mock.tables.get(1);
  await until(async () => (await placement(page, '.stage .board')) === shown(mock, 1), 'live position');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  const past = table.plies[7].fen.split(' ')[0];
  await until(async () => (await placement(page, '.stage .board')) === past, 'two plies back');
  mock.advance(table);
  await until(async () => (await page.getByRole('button', { name: '1 new move' }).count()) === 1, 'a new move is offered');
  assert.equal(await placement(page, '.stage .board'), past, 'the reader is not torn away');
  await page.keyboard.press('End');
  await until(async () => (await placement(page, '.stage .board')) === shown(mock, 1), 'back to the latest');
  mock.command({ do: 'correct', table: 1, correction: { what: 'replace-ply', index: 10, uci: 'h2h3' } });
  await until(async () => (await page.locator('.notice').textContent()) === 'Move 6 was corrected.', 'the correction is told');
  await until(async () => (await placement(page, '.stage .board')) === shown(mock, 1), 'and shown');
  assert.equal(await page.locator('.moves .corrected .san').textContent(), 'h3');
  await page.keyboard.press('f');
  await until(async () => (await placement(page, '.stage .board')) === shown(mock, 1), 'turned round it is the same position');
  await accessible(page, 'game');
  assert.match(await page.getAttribute('.links a', 'href'), /^\/round\/3\/game-1\.pgn$/);
  await page.getByRole('button', { name: 'Embed' }).click();
  assert.match(await page.inputValue('dialog input'), /^<iframe src="http:\/\/127\.0\.0\.1:\d+\/embed\?table=1"/);
  await done(page);
  await mock.close();
});

test('64 boards: the connection is lost and comes back right, without a silent gap', async () => {
  const mock = new Mock({ boards: 64 });
  const address = await mock.listen(false);
  const port = Number(new URL(address).port);
  const page = await newPage({ offlineIsFine: true });
  await page.goto(address);
  await page.waitForSelector('.tile >> nth=63');
  mock.run(700);
  await new Promise((go) => { setTimeout(go, 1500); });
  await mock.close();
  await until(async () => (await page.getAttribute('.connection', 'data-state')) === 'waiting', 'it says that the line is lost');
  for (const table of mock.tables.values()) if (table.table % 2) mock.advance(table);
  await mock.listen(false, port);
  await until(async () => (await page.getAttribute('.connection', 'data-state')) === 'open', 'it comes back', 20_000);
  for (let n = 1; n <= 64; n += 1) await until(async () => (await placement(page, `.tile[href="#/table/${n}"] .board`)) === shown(mock, n), `table ${n} after the gap`);
  mock.advance(mock.tables.get(64));
  await until(async () => (await placement(page, '.tile[href="#/table/64"] .board')) === shown(mock, 64), 'and it goes on');
  await done(page);
  await mock.close();
});

test('the wall shows nothing that players may not know', async () => {
  const mock = new Mock({ boards: 6, begun: () => 12 });
  const address = await mock.listen(false);
  const page = await newPage({ width: 1920, height: 1080, scheme: 'dark' });
  await page.goto(`${address}/wall`);
  await page.waitForSelector('.tile >> nth=5');
  await until(async () => (await placement(page, '.tile .board')) === shown(mock, 1), 'positions');
  const text = await page.locator('main').innerText();
  assert.doesNotMatch(text, /\d+(\.|…) ?[KQRBNa-hO]/, 'no move numbers');
  assert.equal(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight), true, 'everything fits');
  await accessible(page, 'wall');
  await done(page);
  await mock.close();
});

test('team matches with their score, in Russian, by keyboard alone', async () => {
  const mock = new Mock({ boards: 8, teams: true });
  const address = await mock.listen(false);
  const page = await newPage({ locale: 'ru-RU', width: 390, height: 844 });
  await page.goto(address);
  await page.waitForSelector('.match h2');
  mock.result(mock.tables.get(1), { value: '1-0', reason: 'resignation', state: 'final' });
  mock.result(mock.tables.get(2), { value: '1/2-1/2', reason: 'draw-agreed', state: 'final' });
  await until(async () => /1½ : ½|½ : 1½/.test(await page.locator('.match .score').first().textContent()), 'the score');
  assert.equal(await page.locator('.place').textContent(), 'Тур 3');
  await page.locator('.tile').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await until(async () => (await page.locator('.panel h2').textContent()) === 'Доска 2', 'the second game opens');
  await page.evaluate(() => { localStorage.setItem('arbiterd', JSON.stringify({ notation: 'ru' })); });
  await page.reload();
  await until(async () => (await page.locator('.moves .san').allTextContents()).some((san) => /^(К|С|Ф|Л|Кр|0-0)/.test(san)), 'Russian letters');
  await accessible(page, 'game on a phone');
  await done(page);
  await mock.close();
});
