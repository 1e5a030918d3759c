// The desk against the daemon itself, with people who sign in: who may do what, results of every kind,
// a game typed from its score sheet, pairings from a file, what is muted, and sheets for the printer.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Daemon, skip } from './daemon.mjs';
import { accessible, done, newPage, OUT, quit, until } from './harness.mjs';

// TOML and PGN both take these; a page must show them as they are.
const EVIL = "<img src=x onerror='globalThis.bad=1'>, <b>A</b> &amp;";
const CONFIG = `
[event]
id = "test-open"
name = "Open <i>of the test</i>"
site = "Hall & annexe"
time_control = "40/5400+30:1800+30"
[round]
number = 3
date = "2026-05-01"
[[table]]
number = 1
white = { name = "${EVIL}", rating = 2401, team = "Rooks" }
black = { name = "Second, Player", rating = 2388, team = "Knights" }
[[table]]
number = 2
white = { name = "Third, Player", team = "Knights" }
black = { name = "Fourth, Player", team = "Rooks" }
[[table]]
number = 3
white = "Fifth, Player"
black = "Sixth, Player"
[[table]]
number = 4
white = "Seventh, Player"
black = "Eighth, Player"
[journal]
file = "hall.sqlite"
[archive]
folder = "archive"
[import]
watch = "pairings"
[desk]
listen = "127.0.0.1:0"
[public]
listen = "127.0.0.1:0"
`;
const PEOPLE = [['Chief', '--role', 'chief-arbiter'], ['Own tables', '--role', 'arbiter', '--tables', '2,3'], ['Operator', '--role', 'operator'], ['Guest', '--role', 'read-only']];
let hall;

before(async () => {
  if (!skip) hall = await Daemon.run(CONFIG, PEOPLE);
});

after(async () => {
  await quit();
  await hall?.stop();
});

/** Opens the sign-in link, then a view. */
async function signIn(name, view = '', options = {}) {
  const page = await newPage(options);
  await page.goto(`${hall.desk}/#token=${hall.tokens[name]}`);
  await page.waitForSelector('nav a');
  await until(() => !page.url().includes('token'), 'the secret leaves the address');
  await page.goto(`${hall.desk}/#/${view}`);
  await page.waitForSelector('main > *');
  return page;
}

const table = async (n) => (await hall.tables('Chief')).find((one) => one.table === n);

test('without signing in nothing is shown; a link signs in, each role has its own buttons', { skip }, async () => {
  assert.equal((await fetch(`${hall.desk}/api/v1/tables`)).status, 401);
  const nobody = await newPage({ offlineIsFine: true });
  await nobody.goto(hall.desk);
  await nobody.waitForSelector('.sign-in');
  assert.equal(await nobody.locator('nav').count(), 0);
  await done(nobody);
  for (const [name, number, enters, corrects] of [['Chief', 1, true, true], ['Own tables', 2, true, true], ['Own tables', 1, false, false], ['Operator', 1, false, true], ['Guest', 1, false, false]]) {
    const page = await signIn(name, `table/${number}`);
    await page.waitForSelector('.stage');
    assert.equal(await page.locator('.entries').count(), enters ? 1 : 0, `${name} at ${number} enters`);
    assert.equal(await page.locator('.side-column summary', { hasText: 'Corrections' }).count(), corrects ? 1 : 0, `${name} at ${number} corrects`);
    await page.goto(`${hall.desk}/#/round`);
    await page.waitForSelector('.checks tbody tr');
    assert.equal(await page.getByRole('button', { name: 'Start the round' }).count(), ['Chief', 'Operator'].includes(name) ? 1 : 0, `${name} starts`);
    await accessible(page, `${name}, round`);
    await done(page);
  }
});

test('results of every kind are entered, shown and reopened', { skip }, async () => {
  const page = await signIn('Own tables', 'table/2');
  for (const [text, word, shown] of [['White wins by forfeit', '+:-', '+ : –'], ['both lose', '0-0', '0–0'], ['neither played', '-:-', '– : –'], ['adjourned', 'adj', 'adj.']]) {
    await page.getByRole('button', { name: 'More…' }).click();
    await page.locator('dialog .sides button', { hasText: text }).click();
    await page.locator('dialog .primary').click();
    await until(async () => (await table(2)).result?.value === word, `${word} is entered`);
    await until(async () => (await page.locator('.outcome .result').textContent()) === shown, `${word} is shown`);
    await page.locator('.toast').last().getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await table(2)).result === null, `${word} is reopened`);
  }
  await done(page);
});

test('a game is typed from its score sheet by keyboard alone; where it stops being readable is shown', { skip }, async () => {
  const page = await signIn('Chief', 'table/3', { locale: 'ru-RU' });
  await page.locator('.side-column summary', { hasText: 'Исправления' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Ввести партию с бланка' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('dialog textarea').focus();
  await page.keyboard.type('1. e4 e5 2. Кf3 Кc6 3. Сb5 a7 4. Сa4');
  await until(async () => (await page.locator('.echo mark').textContent()) === 'a7', 'the word that cannot be read');
  assert.match(await page.locator('.sheet-state').textContent(), /3…/);
  assert.equal(await page.locator('dialog .primary').isDisabled(), true);
  await accessible(page, 'score sheet');
  await page.screenshot({ path: join(OUT, 'sheet.png') });
  await page.fill('dialog textarea', '1. e4 e5 2. Кf3 Кc6 3. Сb5 a6 4. Сa4');
  await until(async () => (await page.locator('dialog .primary').isEnabled()), 'all is read');
  await page.locator('dialog .primary').focus();
  await page.keyboard.press('Enter');
  await until(async () => (await table(3)).plies.length === 7, 'the daemon took it');
  assert.ok((await table(3)).plies.every((ply) => ply.source === 'typed'), 'marked as typed');
  await until(async () => (await page.locator('.moves .san').count()) === 7, 'and the page shows it');
  // What is shorter or differs is said before it is taken.
  await page.getByRole('button', { name: 'Ввести партию с бланка' }).click();
  await page.fill('dialog textarea', '1. e4 e5 2. Nf3 Nf6');
  await until(async () => /2…/.test(await page.locator('.sheet-side .warn').textContent()), 'where it differs');
  await page.keyboard.press('Escape');
  await done(page);
});

test('an adjourned game: what is in the envelope is read before the game goes on', { skip }, async () => {
  const page = await signIn('Chief', 'table/3');
  await page.getByRole('button', { name: 'Adjourn', exact: true }).click();
  await page.locator('dialog .primary').click();
  await until(async () => (await table(3)).adjourned, 'the game is adjourned');
  for (const close of await page.locator('dialog[open] header button').all()) await close.click();
  await until(async () => /sealed move 4/.test(await page.locator('.outcome').innerText()), 'who seals which move');
  await accessible(page, 'adjourned');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.fill('dialog input[type=text]', 'Кf9');
  await until(async () => page.locator('dialog .sheet-state.bad').isVisible(), 'no move of this position');
  assert.equal(await page.locator('dialog .primary').isDisabled(), true);
  await page.fill('dialog input[type=text]', 'b5');
  await until(async () => /Legal: b5/.test(await page.locator('dialog .sheet-state').innerText()), 'a legal move');
  await accessible(page, 'envelope');
  await page.locator('dialog .primary').click();
  await until(async () => { const now = (await table(3)).adjourned; return !now || now.resuming || now.sealed; }, 'the game goes on');
  await done(page);
});

test('names are corrected during play and the correction taken back', { skip }, async () => {
  const page = await signIn('Operator', 'table/2');
  await page.locator('.side-column summary', { hasText: 'Corrections' }).click();
  await page.getByRole('button', { name: 'Correct names' }).click();
  await accessible(page, 'names');
  await page.locator('dialog .name input').first().fill('Thírd, Player');
  await page.locator('dialog .primary').click();
  await until(async () => (await table(2)).players.white.name === 'Thírd, Player', 'the daemon took it');
  assert.equal((await table(2)).players.white.team, 'Knights', 'the rest stays');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await until(async () => (await table(2)).players.white.name === 'Third, Player', 'taken back');
  await done(page);
});

test('a muted kind is seen at its table and taken back', { skip }, async () => {
  const page = await signIn('Chief', 'table/1');
  await page.request.post(`${hall.desk}/api/v1/tables/1/mute`, { data: { code: 'clock-adjusted', muted: true } });
  await page.waitForSelector('.muted li');
  await accessible(page, 'muted');
  await page.locator('.muted').getByRole('button', { name: 'Alert again' }).click();
  await until(async () => !(await page.locator('.muted li').first().isVisible()), 'nothing is muted any more');
  await done(page);
});

test('sheets for the printer: names stay text, match protocols and summary, one page each', { skip }, async () => {
  const page = await signIn('Chief', 'print/matches');
  await page.waitForSelector('.paper.match');
  assert.match(await page.locator('.paper.match h1').textContent(), /Protocol of match 1/);
  assert.equal(await page.locator('.paper.match tbody tr').count(), 2);
  for (const kind of ['pairings', 'check', 'matches', 'summary', 'score/all', 'report']) {
    await page.goto(`${hall.desk}/#/print/${kind}`);
    await page.waitForSelector(`.paper.${kind.split('/')[0].replace('matches', 'match')}`);
    if (!['report'].includes(kind)) assert.ok((await page.locator('.sheets').innerText()).includes(EVIL), `${kind} has the name as it is`);
    assert.match(await page.locator('.paper-event').first().textContent(), /Open <i>of the test<\/i>, Hall & annexe/);
    await accessible(page, `print ${kind}`);
  }
  assert.equal(await page.evaluate(() => globalThis.bad), undefined);
  assert.equal(await page.evaluate(() => document.querySelectorAll('.paper img, .paper b b, .paper i').length), 0);
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('.top').isVisible(), false, 'the frame is not printed');
  assert.equal(await page.locator('.no-print').isVisible(), false);
  await done(page);
});

test('names stay text on every view of the desk, in both languages', { skip }, async () => {
  for (const locale of ['en-GB', 'ru-RU']) {
    const page = await signIn('Chief', '', { locale, width: 390, height: 844 });
    for (const view of ['hall', 'table/1', 'table/1/trace', 'round', 'event', 'log', 'help', 'print/summary']) {
      await page.goto(`${hall.desk}/#/${view}`);
      await page.waitForSelector('main > *');
      await page.waitForTimeout(250);
      assert.equal(await page.evaluate(() => globalThis.bad), undefined, view);
      assert.equal(await page.locator('main img[src="x"]').count(), 0, view);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} fits a phone`);
      await accessible(page, `${view} ${locale}`);
    }
    await done(page);
  }
});

test('a file of pairings dropped on the page is shown with its repairs, and taken when confirmed', { skip }, async () => {
  const pgn = ['First, A', 'Third, C'].map((white, at) => `[Event "Open"]\n[Site "?"]\n[Date "2026.05.02"]\n[Round "4"]\n[White "${white}"]\n[Black "${['Second, B', 'Fourth, D'][at]}"]\n[WhiteElo "-"]\n[Result "*"]\n\n*\n\n`).join('');
  const page = await signIn('Operator', 'round');
  await page.waitForSelector('.drop');
  await page.evaluate((text) => {
    const files = new DataTransfer();
    files.items.add(new File([text], 'round4.pgn', { type: 'application/x-chess-pgn' }));
    document.querySelector('.round-view').dispatchEvent(new DragEvent('drop', { bubbles: true, dataTransfer: files }));
  }, pgn);
  await page.waitForSelector('dialog .pairings');
  assert.equal(await page.locator('.repairs li').count() > 0, true, 'the repairs are listed');
  await accessible(page, 'pairings');
  await page.getByRole('button', { name: 'Take them' }).click();
  await until(async () => (await table(2))?.players.white.name === 'Third, C', 'the round is set up');
  await until(async () => (await page.locator('.round-view h1').textContent()) === 'Round 4', 'and shown');
  await done(page);
});

test('a round robin is paired from names in lot order; its names are offered in Latin letters', { skip }, async () => {
  const page = await signIn('Operator', 'round');
  await page.getByRole('link', { name: 'Boards, sections, round robin' }).click();
  const look = page.getByRole('button', { name: 'Show the pairings' });
  await page.fill('.event-view textarea', 'Петров, Пётр\nSecond, B');
  assert.equal(await look.isDisabled(), true, 'two players need no table');
  await page.fill('.event-view textarea', 'Петров, Пётр\nSecond, B\nThird, C\nFourth, D\nFifth, E');
  await page.locator('.event-view input[type=number]').fill('2');
  await accessible(page, 'event');
  await look.click();
  await page.waitForSelector('dialog .pairings');
  // Berger's table for five or six: the second round is 6-4, 5-3, 1-2; with five, the fourth is free.
  assert.deepEqual(await page.locator('.pairings li div').allTextContents(), ['Fifth, E – Third, C', 'Петров, Пётр – Second, B']);
  assert.match(await page.locator('dialog').innerText(), /Without a game: Fourth, D/);
  await page.getByRole('button', { name: 'Take them' }).click();
  const at = await until(async () => (await hall.tables('Chief')).find((one) => one.players.white.name === 'Петров, Пётр')?.table, 'the round is set up');
  await page.goto(`${hall.desk}/#/table/${at}`);
  await page.locator('.side-column summary', { hasText: 'Corrections' }).click();
  await page.getByRole('button', { name: 'Correct names' }).click();
  await page.getByRole('button', { name: 'In Latin letters: Petrov, Petr' }).click();
  await page.locator('dialog .primary').click();
  await until(async () => (await table(at)).players.white.name === 'Petrov, Petr', 'the Latin name is taken');
  await done(page);
});

test('a file in the watched folder waits at the desk until a person takes it', { skip }, async () => {
  const page = await signIn('Chief', 'round');
  mkdirSync(join(hall.folder, 'pairings'), { recursive: true });
  writeFileSync(join(hall.folder, 'pairings', 'round5.pgn'), '[Event "Open"]\n[Site "?"]\n[Date "2026.05.03"]\n[Round "5"]\n[White "Tenth, J"]\n[Black "Eleventh, K"]\n[Result "*"]\n\n*\n');
  await page.waitForSelector('.waiting li', { timeout: 30_000 });
  assert.match(await page.locator('.waiting li').first().innerText(), /round5\.pgn/);
  assert.notEqual((await table(1)).players.white.name, 'Tenth, J', 'nothing is set up before');
  await page.getByRole('button', { name: 'Look at it' }).click();
  await page.getByRole('button', { name: 'Take them' }).click();
  await until(async () => (await table(1)).players.white.name === 'Tenth, J', 'the round is set up');
  await until(async () => !(await page.locator('.waiting-box').isVisible()), 'and the file waits no more');
  await done(page);
});
