// Takes the pictures of the README and of the desk's help from a running demo:
// `node pictures.mjs DESK PUBLIC` with the two addresses that `arbiterd demo` prints, while games are
// going on and alerts are open. Small JPEG files in docs/images/ and src/serve/web/help/.

import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { newPage, quit } from './harness.mjs';

const [desk, viewer] = process.argv.slice(2).map((address) => address.replace(/\/$/, ''));
const readme = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const help = fileURLToPath(new URL('../../src/serve/web/help/', import.meta.url));
for (const folder of [readme, help]) mkdirSync(folder, { recursive: true });

const tables = await (await fetch(`${desk}/api/v1/tables`)).json();
const alerting = tables.filter((table) => table.alerts.some((alert) => ['decides', 'go-now', 'look'].includes(alert.severity)));
const touched = (alerting.find((table) => table.alerts.some((alert) => alert.evidence?.length > 1)) ?? alerting[0] ?? tables[0]);
const alert = touched.alerts.find((one) => one.evidence?.length > 1) ?? touched.alerts[0];
const trace = `#/table/${touched.table}/trace${alert ? `?at=${Date.parse(alert.at)}&alert=${alert.id}` : ''}`;
const playing = tables.find((table) => table.status === 'playing' && table.plies.length > 8 && !table.result) ?? tables[0];

async function claim(page) {
  await page.locator('.entry-group').nth(1).getByRole('button').first().click();
  await page.locator('dialog .primary').click();
  await page.waitForSelector('.answer');
}

const README = { width: 1200, height: 720 };
const PHONE = { width: 390, height: 780, locale: 'ru-RU', scheme: 'dark' };
const SHOTS = [
  [`${readme}desk`, `${desk}/#/`, README],
  [`${readme}table`, `${desk}/#/table/${touched.table}`, { width: 1340, height: 800 }],
  [`${readme}trace`, `${desk}/${trace}`, README],
  [`${readme}phone`, `${desk}/#/`, PHONE],
  [`${readme}viewer`, `${viewer}/`, { width: 1280, height: 800 }],
  [`${readme}wall`, `${viewer}/wall`, { width: 1280, height: 720, scheme: 'dark' }],
];
for (const [short, locale] of [['en', 'en-GB'], ['ru', 'ru-RU']]) {
  const size = { width: 960, height: 600, locale };
  SHOTS.push(
    [`${help}attention.${short}`, `${desk}/#/`, size], [`${help}table.${short}`, `${desk}/#/table/${touched.table}`, size],
    [`${help}trace.${short}`, `${desk}/${trace}`, size], [`${help}round.${short}`, `${desk}/#/round`, size],
    [`${help}claim.${short}`, `${desk}/#/table/${playing.table}`, size, claim],
  );
}

for (const [name, address, options, act] of SHOTS) {
  const page = await newPage(options);
  await page.goto(address);
  await page.waitForTimeout(1500);
  await act?.(page);
  await page.waitForTimeout(act ? 500 : 0);
  await page.screenshot({ path: `${name}.jpg`, type: 'jpeg', quality: name.startsWith(help) ? 45 : 60 });
  await page.context().close();
}
await quit();
