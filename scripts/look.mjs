// The pages of `report`, `show --html` and `recap --html` in a real Chromium: no error, no request, nothing
// of a hostile log runs, all of it by keyboard, readable by axe's rules in both themes, on a phone and printed.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const { BROWSER, PROGRAM, SCRATCH, PARTS, REPORT } = process.env;
const require = createRequire(pathToFileURL(path.resolve(PARTS, 'package.json')));
const { default: puppeteer } = await import(pathToFileURL(require.resolve('puppeteer-core')).href);
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const problems = [];
const check = (fine, what) => { if (!fine) problems.push(what); };
const mill = (...args) => execFileSync(PROGRAM, [...args, '--now', '2026-06-01T12:00:00Z', '--host', 'desk'],
  { cwd: SCRATCH, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: SCRATCH, TZ: 'UTC' } });

/** A log whose every text wants to run, be fetched, or take the page apart. */
function hostile() {
  const bad = '</script></title><script>window.hostile=1</script><img src=https://evil.example/a.png onerror="window.hostile=1">'
    + '<a href="javascript:window.hostile=1">x</a>\u202e\u2028<!-- <svg onload=window.hostile=1>';
  const markdown = bad + '\n\n![pixel](https://evil.example/b.png) [go](javascript:window.hostile=1) [web](https://example.org/)\n\n<iframe src=https://evil.example></iframe>';
  const line = (type, at, uuid, parent, message) => JSON.stringify({ parentUuid: parent, isSidechain: false, userType: 'external',
    cwd: path.join(SCRATCH, 'hostile'), sessionId: 'badbadba-0000-4000-8000-000000000000', version: '2.0.0', type, message, uuid,
    timestamp: `2026-05-30T10:00:0${at}.000Z` });
  const id = (at) => `badbadba-0000-4000-8000-00000000000${at}`;
  const usage = { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const folder = path.join(SCRATCH, '.claude/projects/-hostile');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'badbadba-0000-4000-8000-000000000000.jsonl'), [
    line('user', 1, id(1), null, { role: 'user', content: bad + 'عربي עברית ' + 'long '.repeat(2_000_000) }),
    line('assistant', 2, id(2), id(1), { id: 'm1', role: 'assistant', model: '<b>model</b>', usage, content: [{ type: 'text', text: markdown },
      { type: 'tool_use', id: 't1', name: 'Bash', input: { command: `echo ${bad}` } }] }),
    line('user', 3, id(3), id(2), { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: bad, is_error: true }] }),
    line('assistant', 4, id(4), id(3), { id: 'm2', role: 'assistant', model: '<b>model</b>', usage, content: [{ type: 'text', text: 'I decided to use ' + bad }] }),
    '' ].join('\n'));
}

hostile();
mill('enable', '--confirm', 'I understand this tracks conversation logs', '--quiet');
mill('backfill', '--quiet');
const out = (name) => path.join(SCRATCH, name);
mill('report', '--html', out('report.html'), '--sessions', out('sessions'), '--quiet');
mill('report', '--html', out('alone.html'), '--quiet');
mill('recap', '--since', '2026-01-01', '--html', out('recap.html'), '--quiet');

const root = process.getuid && process.getuid() === 0 ? ['--no-sandbox'] : [];
const browser = await puppeteer.launch({ executablePath: BROWSER, headless: true, args: [...root, '--disable-gpu',
  '--disable-background-networking', '--host-resolver-rules=MAP * ~NOTFOUND', '--hide-scrollbars'] });

async function open(name, { width = 1280, height = 900, scheme = 'light' } = {}) {
  const page = await browser.newPage();
  await page.setViewport({ width, height, isMobile: width < 600, hasTouch: width < 600 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.setOfflineMode(true);
  const own = pathToFileURL(out(name)).href;
  page.on('console', (message) => { if (['error', 'warn'].includes(message.type())) problems.push(`${name}: console: ${message.text()}`); });
  page.on('pageerror', (error) => problems.push(`${name}: error: ${error.message}`));
  page.on('dialog', (dialog) => { problems.push(`${name}: a dialog opened`); dialog.dismiss(); });
  page.on('request', (request) => { if (request.url() !== own) problems.push(`${name}: asked for ${request.url()}`); });
  await page.goto(own, { waitUntil: 'load' });
  return page;
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations
    .filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => `${one.id} ×${one.nodes.length}: ${one.nodes[0].target} ${one.nodes[0].failureSummary}`));
  found.forEach((one) => problems.push(`${name}: ${one}`));
}

/** Milliseconds to the first paint, and from a word to what it chooses. */
async function speed(page) {
  await page.bringToFront();
  await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length, { timeout: 5000 });
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
  const filter = await page.evaluate(async () => {
    const field = document.getElementById('f-text');
    const start = performance.now();
    field.value = 'fix';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return performance.now() - start;
  });
  return { paint, filter, sessions: await page.$eval('#chosen', (one) => one.textContent.match(/ of ([\d,]+)/)[1]) };
}

const hostilePage = 'sessions/badbadba-0000-4000-8000-000000000000.html';
const biggest = fs.readdirSync(out('sessions')).map((name) => [fs.statSync(out('sessions/' + name)).size, name])
  .filter(([, name]) => !name.startsWith('badbad')).sort((a, b) => b[0] - a[0])[0][1];
const pages = [['report', 'report.html'], ['session', 'sessions/' + biggest], ['recap', 'recap.html'], ['hostile', hostilePage]];
for (const [short, name] of pages) {
  for (const [size, width, height] of [['desktop', 1280, 900], ['phone', 390, 844]]) {
    for (const scheme of ['light', 'dark']) {
      const page = await open(name, { width, height, scheme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${short} ${size}: ${wide} px wider than the screen`);
      await page.screenshot({ path: path.join(PARTS, `${short}-${size}-${scheme}.png`), fullPage: short !== 'hostile' });
      await accessible(page, `${short} ${size} ${scheme}`);
      await page.close();
    }
  }
}

// what a log says is text
{
  const page = await open(hostilePage);
  const found = await page.evaluate(() => ({ ran: window.hostile, scripts: document.scripts.length,
    loads: document.querySelectorAll('img, iframe, svg, object, embed, link, form').length,
    links: [...document.querySelectorAll('a')].map((a) => a.href).filter((href) => !/^(file:.*#|https?:)/.test(href)),
    handlers: [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => a.name.startsWith('on'))).length }));
  check(found.ran === undefined && !found.scripts && !found.loads && !found.links.length && !found.handlers,
    `hostile page: ${JSON.stringify(found)}`);
  check((await page.evaluate(() => document.title.length)) < 400, 'hostile page: a title of megabytes');
  await page.close();
  const report = await open('report.html');
  check((await report.evaluate(() => window.hostile)) === undefined, 'report: a log ran');
  check((await report.evaluate(() => document.querySelectorAll('img, iframe, svg').length)) === 0, 'report: a log drew');
  check((await report.evaluate(() => [...document.querySelectorAll('td')].some((td) => td.textContent.includes('<script>')))), 'report: the hostile title is not shown as text');
  await report.close();
}

// the report by mouse and keyboard
{
  const page = await open('alone.html');
  await page.bringToFront();
  const count = () => page.$eval('#chosen', (p) => Number(p.textContent.split(' of ')[0].replaceAll(',', '')));
  const all = await count();
  check(all > 3, `report: ${all} sessions`);
  await page.keyboard.press('/');
  await page.keyboard.type('zzzzqqqq');
  await page.waitForFunction(() => document.getElementById('chosen').textContent.startsWith('0 of'), { timeout: 2000 });
  await page.evaluate(() => document.getElementById('f-reset').click());
  await page.waitForFunction((all) => document.getElementById('chosen').textContent.startsWith(all + ' of'), { timeout: 2000 }, all);
  await page.select('#f-agent', '0');
  await page.waitForFunction((all) => !document.getElementById('chosen').textContent.startsWith(all + ' of'), { timeout: 2000 }, all);
  await page.evaluate(() => document.getElementById('f-reset').click());
  await page.waitForFunction((all) => document.getElementById('chosen').textContent.startsWith(all + ' of'), { timeout: 2000 }, all);
  await page.focus('.calendar button[tabindex="0"]');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('chosen').textContent.includes('only '), { timeout: 2000 });
  check((await count()) < all, 'report: a day shows all sessions');
  await page.evaluate(() => document.getElementById('f-reset').click());
  await page.waitForFunction((all) => document.getElementById('chosen').textContent.startsWith(all + ' of'), { timeout: 2000 }, all);
  await page.focus('#c-sessions .pick');
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open]', { timeout: 2000 });
  check((await page.$eval('dialog', (one) => one.textContent)).includes('sessionmill show'), 'report: a session has no command');
  await page.screenshot({ path: path.join(PARTS, 'dialog.png') });
  await page.keyboard.press('Escape');
  check((await page.$('dialog[open]')) === null, 'report: Escape closes nothing');
  await page.pdf({ path: path.join(PARTS, 'report.pdf'), format: 'A4' });
  check(fs.statSync(path.join(PARTS, 'report.pdf')).size > 10_000, 'report: nothing is printed');
  await page.close();
}

// how fast it is, and a larger one that was asked for
for (const name of ['alone.html', ...(REPORT ? [path.relative(SCRATCH, REPORT)] : [])]) {
  const page = await open(name);
  const { paint, filter, sessions } = await speed(page);
  // the promise is 1 s and 100 ms on a quiet machine; CI's may be loaded
  check(paint < 3000 && filter < 1000, `${name}: first paint after ${paint} ms, a filter after ${filter} ms`);
  console.log(`look: ${sessions} sessions, first paint ${Math.round(paint)} ms, a filter ${Math.round(filter)} ms`);
  await page.close();
}
await browser.close();
problems.forEach((one) => console.error('look: ' + one));
console.log(problems.length ? `look: ${problems.length} problems` : `look: ok; screenshots are in ${PARTS}`);
process.exit(problems.length ? 1 : 0);
