// Measures what the viewer costs: until it can be used, and how much of one core 64 boards at blitz
// speed take. Prints figures; decides nothing. `node measure.mjs [milliseconds a ply] [seconds]`

import { launch, newPage, quit } from './harness.mjs';
import { Mock, TOKEN } from './mock.mjs';

const SECONDS = Number(process.argv[3]) || 20;
const ply = Number(process.argv[2]) || 3000;

async function metrics(client) {
  const { metrics: list } = await client.send('Performance.getMetrics');
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

await launch();
for (const [name, desk, path, ready, count] of [['viewer', false, '/', '.tile', 64], ['wall', false, '/wall', '.tile', 64], ['desk', true, `/#token=${TOKEN}`, '.calm', 1], ['hall', true, '/#/hall', '.tile', 64]]) {
  const mock = new Mock({ boards: 64 });
  const address = await mock.listen(desk);
  const page = await newPage({ width: 1280, height: 800 });
  if (name === 'hall') { await page.goto(`${address}/#token=${TOKEN}`); await page.waitForSelector('nav a'); await page.goto('about:blank'); }
  const client = await page.context().newCDPSession(page);
  // Time the thread really had, not what it waited for on a busy machine.
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  // In the page's own time, from the moment it is asked for until all is there and painted.
  await page.addInitScript(([selector, wanted]) => {
    const look = () => {
      if (document.querySelectorAll(selector).length >= wanted) requestAnimationFrame(() => { globalThis.shownAfter = performance.now(); });
      else requestAnimationFrame(look);
    };
    look();
  }, [ready, count]);
  await page.goto(address + path);
  const shown = await page.waitForFunction(() => globalThis.shownAfter).then((handle) => handle.jsonValue());
  const spent = (await metrics(client)).TaskDuration * 1000;
  mock.run(ply);
  await new Promise((go) => { setTimeout(go, 2000); });
  const before = await metrics(client);
  const from = performance.now();
  await new Promise((go) => { setTimeout(go, SECONDS * 1000); });
  const after = await metrics(client);
  const span = (performance.now() - from) / 1000;
  const share = (key) => `${(((after[key] - before[key]) / span) * 100).toFixed(1)} %`;
  console.log(`${name}: shown after ${Math.round(shown)} ms, of which the page's thread worked ${Math.round(spent)} ms; 64 boards, a ply each ${ply} ms: main thread ${share('TaskDuration')} of a core (script ${share('ScriptDuration')}, style ${share('RecalcStyleDuration')}, layout ${share('LayoutDuration')}); heap ${(after.JSHeapUsedSize / 1e6).toFixed(1)} MB`);
  await page.context().close();
  await mock.close();
}
await quit();
