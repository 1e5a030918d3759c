// The desk against a stand-in for the daemon.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessible, done, newPage, placement, quit, until } from './harness.mjs';
import { Mock, TOKEN } from './mock.mjs';
import { touches, trouble } from './scene.mjs';

after(quit);

const shown = (mock, n) => (mock.tables.get(n).plies.at(-1)?.fen ?? mock.tables.get(n).start).split(' ')[0];

async function open(mock, options = {}) {
  const address = await mock.listen(true);
  const page = await newPage(options);
  await page.goto(`${address}/#token=${TOKEN}`);
  await page.waitForSelector('nav a');
  return { page, address };
}

test('a token link signs in once and leaves the address; a wrong one is refused in words', async () => {
  const mock = new Mock({ boards: 2 });
  const address = await mock.listen(true);
  const page = await newPage({ offlineIsFine: true });
  await page.goto(`${address}/#token=wrong`);
  await until(async () => /not known/.test(await page.locator('.fault').textContent()), 'the refusal');
  assert.ok(!page.url().includes('token'));
  await accessible(page, 'sign-in');
  await page.fill('input[type=password]', TOKEN);
  await page.keyboard.press('Enter');
  await page.waitForSelector('nav a');
  assert.deepEqual(await page.evaluate(() => document.cookie), '', 'scripts cannot read the session');
  await page.goto(`${address}/#token=${TOKEN}`);
  await page.waitForSelector('nav a');
  await until(() => !page.url().includes('token'), 'the token left the address');
  await done(page);
  await mock.close();
});

test("the daemon's own trouble stands above every view until it is over", async () => {
  const mock = new Mock({ boards: 2 });
  const { page } = await open(mock, { offlineIsFine: true });
  const bar = page.locator('.trouble-bar');
  assert.equal(await bar.isVisible(), false);
  mock.trouble = 'the journal cannot be written: no space left';
  await until(async () => (await bar.isVisible()) && /no space left/.test(await bar.textContent()), 'it is said');
  await accessible(page, 'trouble');
  mock.trouble = null;
  await until(async () => !(await bar.isVisible()), 'and it goes away by itself');
  await done(page);
  await mock.close();
});

test('an alert comes, is seen, its trace opened, and resolved with a note', async () => {
  const mock = new Mock({ boards: 4 });
  mock.trace = (n) => ({ table: n, touches: touches() });
  const { page } = await open(mock);
  await page.waitForSelector('.calm:visible');
  mock.alert(3, { text: { en: 'White: illegal Ke7 (king moved into check). Restore; Black +120 s. No. 1.', ru: '' }, advice: { restore_fen: mock.tables.get(3).start, add_seconds: { to: 'black', seconds: 120 } } });
  await page.waitForSelector('.alert');
  assert.equal(await page.locator('.what').textContent(), 'White: illegal Ke7 (king moved into check).');
  assert.equal(await page.locator('.todo').textContent(), 'Restore; Black +120 s. No. 1.');
  assert.match(await page.title(), /^\(1\) /);
  await accessible(page, 'attention');
  await page.getByRole('button', { name: 'Seen' }).click();
  await until(() => mock.tables.get(3).alerts[0].state === 'acknowledged', 'acknowledged');
  await page.getByRole('link', { name: 'Trace' }).click();
  await until(async () => (await page.locator('.touches li').count()) >= 6, 'the touches');
  assert.ok((await page.locator('.touches .unsure').count()) >= 2, 'what cannot be ordered is said');
  await page.keyboard.press('ArrowLeft');
  await accessible(page, 'trace');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as image' }).click()]);
  assert.match(download.suggestedFilename(), /^trace-table-3-.*\.png$/);
  await page.goto(`${new URL(page.url()).origin}/#/`);
  await page.getByRole('button', { name: 'Resolve' }).click();
  await page.keyboard.type('Restored, two minutes added.');
  await page.locator('dialog .primary').click();
  await until(() => mock.tables.get(3).alerts[0].state === 'resolved', 'resolved');
  assert.equal(mock.tables.get(3).alerts[0].note, 'Restored, two minutes added.');
  await page.waitForSelector('.calm:visible');
  await done(page);
  await mock.close();
});

test('urgency orders the list; what is in confidence stays on the quiet list and calls nobody', async () => {
  const mock = new Mock({ boards: 8 });
  const { page } = await open(mock);
  trouble(mock);
  await until(async () => (await page.locator('.alert').count()) === 4, 'four alerts');
  assert.deepEqual(await page.locator('.alert .table-number').allTextContents(), ['5', '2', '1', '7']);
  assert.equal(await page.locator('.quiet li').count(), 2);
  assert.equal(await page.locator('.badge').textContent(), '3');
  await done(page);
  await mock.close();
});

test('a claim with a written move is checked and answered with diagrams', async () => {
  const mock = new Mock({ boards: 1, begun: () => 12 });
  mock.answer = (table, entry, cut) => ({ act: 'claim', kind: entry.kind, side: entry.side, article: '9.2.1', valid: true, halfmoves: 7, occurrences: [4, 8, 13], positions: [cut(3), cut(7), { ply: 13, fen: table.plies[11].fen, move: '7' }], result: '1/2-1/2', text: { en: 'The claim is right: moves 2, 4, 7.', ru: '' } });
  const { page, address } = await open(mock);
  await page.goto(`${address}/#/table/1`);
  await page.getByRole('button', { name: 'Claim', exact: true }).click();
  await accessible(page, 'claim');
  await page.fill('dialog input[type=text]', 'Лg1');
  await until(async () => /h1 → g1/.test(await page.locator('.picker-side p').textContent()), 'the move is understood in Russian letters');
  await page.getByRole('button', { name: 'Check the claim' }).click();
  await page.waitForSelector('.answer.valid');
  assert.equal(await page.locator('.occurrences figure').count(), 3);
  assert.equal(await page.getByRole('button', { name: 'Result ½–½' }).count(), 1);
  const claim = mock.commands.find((command) => command.entry?.act === 'claim');
  assert.equal(claim.entry.kind, 'threefold');
  assert.match(claim.entry.intended, /^h1g1$/);
  await accessible(page, 'answer');
  await done(page);
  await mock.close();
});

test('a ply is corrected on the board by keyboard alone, and the correction taken back', async () => {
  const mock = new Mock({ boards: 1, begun: () => 9 });
  const { page, address } = await open(mock);
  await page.goto(`${address}/#/table/1`);
  const before = shown(mock, 1);
  await until(async () => (await placement(page, '.stage .board')) === before, 'the position');
  await page.locator('.moves button').last().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Replace this move' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('dialog input[type=text]').focus();
  await page.keyboard.type('h3');
  await page.locator('dialog .primary').focus();
  await page.keyboard.press('Enter');
  await until(() => mock.tables.get(1).plies.at(-1).uci === 'h2h3', 'corrected');
  await until(async () => (await placement(page, '.stage .board')) === shown(mock, 1), 'and shown');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).focus();
  await page.keyboard.press('Enter');
  await until(async () => (await placement(page, '.stage .board')) === before, 'taken back');
  await done(page);
  await mock.close();
});

test('where several lines explain the board, one press chooses the one that was played', async () => {
  const mock = new Mock({ boards: 2, begun: () => 0 });
  const { page } = await open(mock);
  await page.waitForSelector('.calm:visible');
  const fen = '1nb2b2/1p2k1pP/2pp4/7p/6nP/2P2p2/P1Q1N3/R1B1K2R b KQ - 0 18';
  const candidates = [['c8d7', 'c2g6', 'd7f5'], ['c8e6', 'c2g6', 'e6f5']];
  mock.alert(2, { code: 'position-gap', severity: 'look', side: null, article: '7.6', text: { en: 'Two lines explain what was read. Choose.', ru: '' }, advice: { restore_fen: fen, line: candidates[0] }, detail: { candidates, index: 35, replaces: 3 } });
  await page.waitForSelector('.choices');
  assert.deepEqual(await page.locator('.choices button').allTextContents(), ['18… Bd7 19. Qg6 Bf5', '18… Be6 19. Qg6 Bf5']);
  await accessible(page, 'choice');
  await page.locator('.choices button').nth(1).click();
  await until(() => mock.commands.length === 1, 'the order');
  assert.deepEqual(mock.commands[0], { do: 'correct', table: 2, correction: { what: 'choose', index: 35, replaces: 3, plies: candidates[1] } });
  await done(page);
  await mock.close();
});

test('entries are confirmed; a result can be reopened; a looker-on has no buttons', async () => {
  const mock = new Mock({ boards: 2 });
  const { page, address } = await open(mock);
  await page.goto(`${address}/#/table/2`);
  await page.getByRole('button', { name: '0–1' }).click();
  assert.equal(mock.commands.length, 0, 'nothing before it is confirmed');
  await page.locator('dialog .primary').click();
  await until(async () => (await page.locator('.outcome').textContent()).startsWith('0–1'), 'the result');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await until(() => mock.commands.at(-1).entry.act === 'reopen', 'reopened');
  await accessible(page, 'table');
  mock.role = 'read-only';
  await page.reload();
  await page.waitForSelector('.stage');
  assert.equal(await page.locator('.entries').count(), 0);
  await done(page);
  await mock.close();
});

test('hall, round and log, in both languages, on a phone, without a serious finding', async () => {
  for (const [locale, word] of [['en-GB', 'Attention'], ['ru-RU', 'Внимание']]) {
    const mock = new Mock({ boards: 8 });
    const { page, address } = await open(mock, { locale, width: 390, height: 844, scheme: locale === 'ru-RU' ? 'dark' : 'light' });
    trouble(mock);
    await until(async () => (await page.locator('nav a').first().innerText()).includes(word), 'the language');
    for (const view of ['', 'hall', 'round', 'log', 'table/1', 'help', 'print/summary', 'print/check', 'print/score/1', 'print/report']) {
      await page.goto(`${address}/#/${view}`);
      await page.waitForSelector('main > *');
      await page.waitForTimeout(300);
      await accessible(page, `${view} ${locale}`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} fits a phone`);
      const missing = await page.evaluate(() => document.body.innerText.match(/\b(?:state|role|check|claim|entry|severity|certainty|advice|status|filter|print|health|help|log|map|sheet|round|import|code)\.[a-z]+/)?.[0] ?? null);
      assert.equal(missing, null, `every word of ${view} is there in ${locale}`);
    }
    await done(page);
    await mock.close();
  }
});
