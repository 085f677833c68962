import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import type { LockHandle } from '../../../lib/index.js';
import { untilQueued } from '../support/queue.js';
import { startChromium, type TestBrowser } from './support/chromium.js';
import { type SampleApp, startSampleApp } from './support/start-sample-app.js';

const KEY = '/locks/files/journal';
/** Installing the browser, where it is missing. */
const INSTALL_WITHIN_MS = 300_000;

describe('the page of the sample application, in Chromium', () => {
  let sample: SampleApp;
  let chromium: TestBrowser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    [sample, chromium] = await Promise.all([startSampleApp(), startChromium()]);
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

  it('shows the connection, and that nobody holds a lock', async () => {
    await sees('#connection', 'connected');
    await sees(card("[data-part='state']"), 'free');
    await sees('#instance', `process ${process.pid}`);
    await photograph('free');
  });

  it('shows a holder and those who wait, as they come and go', async () => {
    const holder = await sample.locks.acquire(KEY, { label: 'the holder' });
    await sees(card("[data-role='holder']"), 'the holder');
    await sees(card("[data-role='holder']"), `token\u00a0${holder.fencingToken}`);
    await sees(card("[data-part='state']"), 'held');

    const waiting: Promise<LockHandle> = sample.locks.acquire(KEY, { label: 'the waiter' });
    await sees(card("[data-role='waiter']"), 'the waiter');
    const reader = await sample.locks.acquire('/locks/files/notes', { mode: 'read', label: 'a reader' });
    await sees("article[data-key='/locks/files/notes']", 'a reader');
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await photograph(`held-${scheme}`);
    }
    await page.setViewport({ width: 390, height: 844 });
    await photograph('held-phone');
    await page.setViewport({ width: 1100, height: 800 });

    await holder.release();
    await sees(card("[data-role='holder']"), 'the waiter');
    await (await waiting).release();
    await reader.release();
    await sees(card("[data-part='state']"), 'free');
  });

  it('lets a visitor hold a lock, wait for it, and read what was written', async () => {
    const holder = await sample.locks.acquire(KEY);
    await press('Append a line');
    await untilQueued(sample.locks, KEY);
    await sees(card("[data-role='waiter']"), 'FilesController.append');
    await holder.release();
    await sees('#log', 'Append a line, after');
    await press('Read');
    await sees('#log', 'a visitor was here');
    await press('Hold for 5 s');
    await sees(card("[data-role='holder']"), 'FilesController.hold');
    await press('Append a line');
    await sees(card("[data-role='waiter']"), 'FilesController.append');
    await photograph('visitor');
    await sees('#log', 'Hold for 5 s, after 5');
    await sees(card("[data-part='state']"), 'free');
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

  it('says so when the instance is gone', async () => {
    await sample[Symbol.asyncDispose]();
    await sees('#connection', 'no answer from the instance');
    await photograph('gone');
  });
});
