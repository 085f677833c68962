import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BoundingBox, Page } from 'puppeteer-core';
import { LockTesting } from '../../../lib/extras/testing/index.js';
import type { LockHandle } from '../../../lib/index.js';
import { untilQueued } from '../support/queue.js';
import { INSTALL_WITHIN_MS, startChromium, type TestBrowser } from '../support/chromium.js';
import { type SampleApp, startSampleApp } from './support/start-sample-app.js';

const KEY = '/locks/files/journal';

describe('the page of the sample application, in Chromium', () => {
  let sample: SampleApp;
  let chromium: TestBrowser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    [sample, chromium] = await Promise.all([startSampleApp({ isBreakable: true }), startChromium()]);
    page = await chromium.browser.newPage();
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('requestfailed', (request) => problems.push(`${request.url()} ${request.failure()?.errorText}`));
    await page.goto(sample.url);
  }, INSTALL_WITHIN_MS);
  afterAll(async () => {
    await page?.close();
    await sample?.[Symbol.asyncDispose]();
    await chromium?.[Symbol.asyncDispose]();
  });

  /** Waits until the element is there with that text, which is what a visitor sees. */
  const sees = async (selector: string, text: string): Promise<void> => {
    await page.waitForSelector(`${selector}::-p-text(${text})`);
  };
  const card = (rest: string): string => `article[data-key='${KEY}'] ${rest}`;
  const press = async (text: string): Promise<void> => {
    await page.locator(`${card('button')}::-p-text(${text})`).click();
  };
  /** For people: TEST_SCREENSHOTS names a folder. */
  const photograph = async (name: string): Promise<void> => {
    const folder = process.env['TEST_SCREENSHOTS'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  };

  const photographAll = async (name: string): Promise<void> => {
    for (const value of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
      for (const width of [1280, 390]) {
        await page.setViewport({ width, height: 800 });
        await photograph(`${name}-${width}-${value}`);
      }
    }
  };
  /** A property of each such element. */
  const all = async <T = string>(selector: string, property: string): Promise<T[]> =>
    (await page.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.${property})`,
    )) as T[];
  /** The page's clocks go on ten times a second. */
  const someTicks = (): Promise<unknown> => page.evaluate('new Promise((resolve) => setTimeout(resolve, 350))');

  it('shows the connection, and that nobody holds a lock', async () => {
    await sees('#connection', 'connected');
    await sees(card("[data-part='state']"), 'free');
    await sees('#instance', `process ${process.pid}`);
    await photograph('free');
  });

  it('shows a holder and those who wait, as they come and go', async () => {
    await using holder = await sample.locks.acquire(KEY, { label: 'the holder' });
    await sees(card("[data-role='holder']"), 'the holder');
    await sees(card("[data-role='holder']"), `token\u00a0${holder.fencingToken}`);
    await sees(card("[data-part='state']"), 'held');

    const waiting: Promise<LockHandle> = sample.locks.acquire(KEY, { label: 'the waiter' });
    await sees(card("[data-role='waiter']"), 'the waiter');
    const reader = await sample.locks.acquire('/locks/files/notes', { mode: 'read', label: 'a reader' });
    await sees("article[data-key='/locks/files/notes']", 'a reader');
    await photographAll('held');
    await page.setViewport({ width: 1100, height: 800 });

    await holder.release();
    await sees(card("[data-role='holder']"), 'the waiter');
    await (await waiting).release();
    await reader.release();
    await sees(card("[data-part='state']"), 'free');
  });

  it('lets a visitor hold a lock, wait for it, and read what was written', async () => {
    await using holder = await sample.locks.acquire(KEY);
    await press('Append a line');
    await sees('#log', 'Append a line: waiting …');
    await untilQueued(sample.locks, KEY);
    await sees(card("[data-role='waiter']"), 'FilesController.append');
    await photograph('waiting');
    await holder.release();
    await sees('#log', 'Append a line, after');
    await press('Read');
    await sees('#log', 'a visitor was here');
    await press('Hold for 5 s');
    await sees(card("[data-role='holder']"), 'FilesController.hold');
    await press('Append a line');
    await sees(card("[data-role='waiter']"), 'FilesController.append');
    await photograph('visitor');
    await sees('#log', 'Hold for 5 s, after');
    const [log] = await all('#log', 'textContent');
    expect(Number(/Hold for 5 s, after ([\d.]+) s/.exec(log ?? '')?.[1])).toBeGreaterThanOrEqual(5);
    await sees(card("[data-part='state']"), 'free');
  });

  it('says for how long somebody is here, which is not for how long it holds', async () => {
    const holder = await sample.locks.acquire(KEY);
    await sees(card("[data-role='holder'] [data-part='age']"), 'here for');
    await holder.release();
  });

  it('shows the first of a long queue: its buttons stay in sight, and its neighbours are no longer for it', async () => {
    await page.setViewport({ width: 1280, height: 800 });
    await using holder = await sample.locks.acquire(KEY, { label: 'FilesController.append' });
    const waiting = Array.from({ length: 13 }, () => sample.locks.acquire(KEY, { label: 'FilesController.append' }));
    await sees(card("[data-part='more']"), 'and 9 more');
    await photographAll('queue');
    await page.setViewport({ width: 1280, height: 800 });
    const rows = await page.$$(card("[data-part='contenders'] li"));
    const boxOf = async (selector: string): Promise<BoundingBox> => (await (await page.$(selector))!.boundingBox())!;
    const buttons = await boxOf(card('.buttons'));
    const labels = await all<number>(card("[data-part='label']"), 'getClientRects().length');

    expect(rows).toHaveLength(5);
    expect(buttons.y + buttons.height).toBeLessThan(800);
    expect((await boxOf("article[data-key='/locks/files/notes']")).height).toBeLessThan(300);
    expect(labels).toEqual([1, 1, 1, 1, 1]);

    await holder.release();
    for (const one of waiting) await (await one).release();
    await sees(card("[data-part='state']"), 'free');
  });

  it('claims nothing while the instance has no session, and stops its clocks', async () => {
    const testing = LockTesting.of(sample.locks);
    await using holder = await sample.locks.acquire(KEY, { label: 'the holder' });
    await sees(card("[data-part='state']"), 'held');
    await testing.suspend();
    await sees('#connection', 'suspended');
    expect(await all("[data-part='state']", 'textContent')).toEqual(Array(5).fill('unknown'));
    await sees(card("[data-part='doubt']"), 'seen last');
    const age = card("[data-part='age']");
    const [ageThen] = await all(age, 'textContent');
    await someTicks();
    expect(await all(age, 'textContent')).toEqual([ageThen]);
    await photographAll('suspended');

    await testing.resume();
    await sees(card("[data-part='state']"), 'held');
    await sees("article[data-key='/locks/files/notes'] [data-part='state']", 'free');
    await page.waitForFunction(
      `document.querySelector(${JSON.stringify(age)}).textContent !== ${JSON.stringify(ageThen)}`,
    );
    await holder.release();
  });

  it('fits a phone: nothing is wider than the screen', async () => {
    await page.setViewport({ width: 320, height: 640 });
    const { content, screen } = (await page.evaluate(
      'const { scrollWidth: content, clientWidth: screen } = document.documentElement; ({ content, screen })',
    )) as { content: number; screen: number };

    expect(content).toBeLessThanOrEqual(screen);
  });

  it('loads everything from the application, without an error', async () => {
    expect(problems).toEqual([]);
    const addresses = (await page.evaluate(
      'performance.getEntriesByType("resource").map(({ name }) => name)',
    )) as string[];

    expect(addresses.length).toBeGreaterThan(2);
    expect(addresses.filter((address) => !address.startsWith(sample.url))).toEqual([]);
  });

  it('has a page of its HTTP API that works, too', async () => {
    const docs = await chromium.browser.newPage();
    docs.setDefaultTimeout(10_000);
    const wrong: string[] = [];
    docs.on('pageerror', (error) => wrong.push(String(error)));
    docs.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
    docs.on('requestfailed', (request) => wrong.push(`${request.url()} ${request.failure()?.errorText}`));
    await docs.goto(`${sample.url}/docs`);
    await docs.waitForSelector('.opblock-summary-path::-p-text(/files/{name})');
    const folder = process.env['TEST_SCREENSHOTS'];
    if (folder !== undefined) await docs.screenshot({ path: join(folder, 'docs.png') });
    await docs.close();
    expect(wrong).toEqual([]);
  });

  it('runs no script that stands in a page', async () => {
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { text: 'window.mine = 1' }))`,
    );
    expect(await page.evaluate('window.mine')).toBeUndefined();
    expect(problems.splice(0)).toEqual([expect.stringContaining('Content Security Policy')]);
  });

  it('lets no page of another origin send a form, nor show it in a frame', async () => {
    const foreign = await chromium.browser.newPage();
    const answers: number[] = [];
    foreign.on('response', (response) => answers.push(response.status()));
    const form = `<form method="post" enctype="text/plain" action="${sample.url}/files/foreign/append"><input name="a" value="b"></form>`;
    await foreign.setContent(`${form}<iframe src="${sample.url}"></iframe>`);
    expect(foreign.frames().map((frame) => frame.url())).not.toContain(`${sample.url}/`);
    await Promise.all([foreign.waitForNavigation(), foreign.evaluate('document.forms[0].submit()')]);
    expect(answers.at(-1)).toBe(403);
    expect((await sample.request('/files/foreign')).status).toBe(404);
    await foreign.close();
  });

  it('says so when the instance is gone', async () => {
    await sample[Symbol.asyncDispose]();
    await sees('#connection', 'no answer from the instance');
    await photograph('gone');
  });
});
