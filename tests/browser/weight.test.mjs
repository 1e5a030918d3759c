// What the first view of each page weighs, all files together and uncompressed.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { done, newPage, quit } from './harness.mjs';
import { Mock, TOKEN } from './mock.mjs';

after(quit);

const LIMIT = 150_000;

for (const [name, desk] of [['viewer', false], ['desk', true]]) {
  test(`the first view of the ${name} stays under 150 kB`, async (context) => {
    const mock = new Mock({ boards: 8 });
    const address = await mock.listen(desk);
    const page = await newPage();
    const sizes = [];
    page.on('response', (response) => sizes.push(response.body().then((body) => body.length, () => 0)));
    await page.goto(desk ? `${address}/#token=${TOKEN}` : address);
    await page.waitForSelector(desk ? '.calm:visible' : '.tile >> nth=7');
    await page.waitForTimeout(300);
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    context.diagnostic(`${name}: ${bytes} bytes in ${sizes.length} answers`);
    assert.ok(bytes > 20_000 && bytes < LIMIT, `${bytes} bytes`);
    await done(page);
    await mock.close();
  });
}
