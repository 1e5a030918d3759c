// Takes the pictures of the README from a running demo: `node pictures.mjs DESK PUBLIC` with the two
// addresses that `arbiterd demo` prints. Small JPEG files in docs/images/.

import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { newPage, quit } from './harness.mjs';

const [desk, viewer] = process.argv.slice(2).map((address) => address.replace(/\/$/, ''));
const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url));
mkdirSync(folder, { recursive: true });

const SHOTS = [
  ['desk', `${desk}/#/`, { width: 1120, height: 640 }],
  ['trace', `${desk}/#/table/4/trace`, { width: 1120, height: 720 }],
  ['phone', `${desk}/#/`, { width: 390, height: 780, locale: 'ru-RU', scheme: 'dark' }],
  ['viewer', `${viewer}/`, { width: 1280, height: 800 }],
];

for (const [name, address, options] of SHOTS) {
  const page = await newPage(options);
  await page.goto(address);
  await page.waitForTimeout(1500);
  await page.screenshot({ path: `${folder}${name}.jpg`, type: 'jpeg', quality: 66 });
  await page.context().close();
}
await quit();
