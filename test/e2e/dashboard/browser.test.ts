import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { lockScan } from '../../../lib/extras/doctor/lock-scan.js';
import { madeUpContender, madeUpRow, madeUpScan } from '../../support/dashboard/made-up-locks.js';
import { INSTALL_WITHIN_MS } from '../support/chromium.js';
import { DashboardVisitor, LOCK, LOCK_KEY, STEP } from '../support/dashboard-visitor.js';

describe('The dashboard in Chromium', () => {
  let visitor: DashboardVisitor;

  beforeAll(async () => {
    visitor = await DashboardVisitor.start();
  }, INSTALL_WITHIN_MS);
  afterAll(async () => visitor?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    // A page behind another one asks for nothing.
    await visitor.page.bringToFront();
    visitor.problems = [];
    visitor.doctor.locks = () => madeUpScan(10_000);
  });

  it('finds, sorts and turns pages of ten thousand locks by the keyboard alone', async () => {
    await visitor.screen(1280, 'light');
    await visitor.open('list');
    await visitor.page.keyboard.press('Tab');
    expect(await visitor.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await visitor.page.focus('#search');
    await visitor.page.keyboard.type('stockservice held');
    await Promise.all([visitor.page.waitForNavigation(), visitor.page.keyboard.press('Enter')]);
    const found = await visitor.keys();
    expect(found).toHaveLength(50);
    expect(found.every((key) => key.startsWith('/locks/inventory/'))).toBe(true);
    await visitor.page.focus('#sort-key');
    await Promise.all([visitor.page.waitForNavigation(), visitor.page.keyboard.press('Enter')]);
    const sorted = await visitor.keys();
    expect(sorted).toEqual([...sorted].sort());
    expect(await visitor.evaluate(`document.querySelector('[aria-sort]').getAttribute('aria-sort')`)).toBe('ascending');
    await visitor.page.focus('#page-Next');
    await Promise.all([visitor.page.waitForNavigation(), visitor.page.keyboard.press('Enter')]);
    const next = await visitor.keys();
    expect(next).toHaveLength(50);
    expect(next[0]! > sorted.at(-1)!).toBe(true);
    expect(await visitor.evaluate(`document.querySelector('#search').value`)).toBe('stockservice held');
  });

  it('shows where the focus is', async () => {
    await visitor.open('list');
    await visitor.page.keyboard.press('Tab');
    for (let step = 0; step < 12; step += 1) {
      await visitor.page.keyboard.press('Tab');
      const outline = await visitor.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
      expect([step, outline]).toEqual([step, 'solid']);
    }
  });

  it('follows the locks by itself, and leaves focus, scroll and what is being typed where they are', async () => {
    const rows = Array.from({ length: 40 }, (_, index) =>
      madeUpRow({ key: `/locks/${index + 100}`, waiting: 90 - index }),
    );
    visitor.doctor.locks = () => lockScan({ at: new Date(), unreadable: 0, locks: rows });
    await visitor.page.setViewport({ width: 1280, height: 400 });
    await visitor.open('list');
    await visitor.page.waitForSelector(`tr[data-id='/locks/120']`);
    // From here on the page has told of nothing yet.
    await visitor.open('list');
    await visitor.page.focus('#search');
    await visitor.page.keyboard.type('half a wo');
    await visitor.page.focus(`tr[data-id='/locks/120'] a`);
    await visitor.evaluate('window.mark = document.activeElement; window.scrollTo(0, 333)');
    const topOf = (key: string): Promise<number> =>
      visitor.evaluate(`Math.round(document.querySelector("tr[data-id='${key}']").getBoundingClientRect().top)`);
    const top = await topOf('/locks/112');

    const holders = [madeUpContender('/locks/120', { label: 'Newcomer.entered' })];
    // The row comes first now, and another one is gone.
    rows.splice(20, 1, madeUpRow({ key: '/locks/120', waiting: 500, holders }));
    rows.splice(30, 1);
    await visitor.sees(`tr[data-id='/locks/120']`, 'Newcomer.entered');
    await visitor.until(`document.querySelector("tr[data-id='/locks/130']") === null`);
    expect((await visitor.keys())[0]).toBe('/locks/120');
    expect(await visitor.evaluate('document.activeElement === window.mark && window.mark.isConnected')).toBe(true);
    // A row has come in above: what somebody reads stays where it is.
    expect(Math.abs((await topOf('/locks/112')) - top)).toBeLessThan(5);
    expect(await visitor.evaluate(`document.querySelector('#search').value`)).toBe('half a wo');
    // Who listens is told what has changed, in one sentence.
    await visitor.sees('#news', '39 locks');
    expect(await visitor.evaluate(`document.querySelector('#news').getAttribute('aria-live')`)).toBe('polite');
  });

  it('stands still when it is told to, and goes on', async () => {
    visitor.doctor.locks = () =>
      lockScan({ at: new Date(), unreadable: 0, locks: [madeUpRow({ key: '/locks/one', waiting: 1 })] });
    await visitor.open('list');
    await visitor.sees('.locks', '/locks/one');
    await visitor.page.click('#live-toggle');
    await visitor.sees('#live-state', 'Paused');
    await visitor.sees('#live-toggle', 'Resume');
    visitor.doctor.locks = () =>
      lockScan({ at: new Date(), unreadable: 0, locks: [madeUpRow({ key: '/locks/two', waiting: 1 })] });
    // Nobody looks, so nobody asks: two intervals pass for another browser that does.
    const end = new AbortController();
    const stream = await visitor.dashboard.request('/locks/live', { signal: end.signal });
    const reader = stream.body!.getReader();
    await reader.read();
    const calls = visitor.doctor.calls.length;
    await reader.read();
    end.abort();
    expect(visitor.doctor.calls).toHaveLength(calls);
    expect(await visitor.keys()).toEqual(['/locks/one']);
    await visitor.page.click('#live-toggle');
    await visitor.sees('.locks', '/locks/two');
  });

  it('says so when what it shows is old', async () => {
    await visitor.open('list');
    await visitor.sees('#live-state', 'Live');
    const { scan } = visitor.doctor;
    visitor.doctor.scan = () => Promise.reject(new Error('away'));
    await visitor.sees('#live-state', 'Not up to date');
    visitor.problems = [];
    visitor.doctor.scan = scan;
    await visitor.sees('#live-state', 'Live');
    visitor.problems = [];
  });

  it('asks before it breaks, by keyboard, and tells what became of it', async () => {
    await visitor.open(LOCK);
    await visitor.page.focus(`a[id^='break-']`);
    await Promise.all([visitor.page.waitForNavigation(), visitor.page.keyboard.press('Enter')]);
    await visitor.sees('.note', 'AccountsController.settle');
    await visitor.page.focus('button.danger');
    await visitor.page.keyboard.press('Enter');
    // The browser itself asks for the reason.
    expect(await visitor.evaluate(`document.querySelector('#reason').validity.valueMissing`)).toBe(true);
    await visitor.page.type('#reason', 'stuck since noon');
    await Promise.all([visitor.page.waitForNavigation(), visitor.page.keyboard.press('Enter')]);
    await visitor.sees('.note.good', 'The lock was broken');
    expect(visitor.doctor.calls).toContain(`break ${LOCK_KEY}`);
  });

  it('gives its button back where the browser shows the page again as it was left', async () => {
    await visitor.open(LOCK);
    await Promise.all([visitor.page.waitForNavigation(), visitor.page.click(`a[id^='break-']`)]);
    const button = (): Promise<unknown> =>
      visitor.evaluate(`[document.querySelector('button.danger')].map((one) => [one.disabled, one.textContent])[0]`);
    await visitor.evaluate(`void document.querySelector('form.step').dispatchEvent(new Event('submit'))`);
    expect(await button()).toEqual([true, 'Under way …']);
    await visitor.evaluate(`void window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
    expect(await button()).toEqual([false, 'Break the lock']);
  });

  it('works without scripts', async () => {
    const plain = await visitor.chromium.browser.newPage();
    await plain.setJavaScriptEnabled(false);
    await plain.goto(`${visitor.dashboard.origin}/locks`);
    expect(plain.url()).toBe(`${visitor.dashboard.origin}/locks/list`);
    await plain.type('#search', 'billing');
    await Promise.all([plain.waitForNavigation(), plain.keyboard.press('Enter')]);
    expect(await plain.$$('.locks tbody tr')).toHaveLength(50);
    expect(await plain.$eval('#live', (element) => (element as unknown as { hidden: boolean }).hidden)).toBe(true);
    await plain.goto(`${visitor.dashboard.origin}/locks/${STEP}`);
    await plain.type('#reason', 'no script');
    await Promise.all([plain.waitForNavigation(), plain.click('button.danger')]);
    await plain.waitForSelector('.note.good');
    await plain.close();
  });

  it('lets no page of another site break a lock, nor show it in a frame', async () => {
    const foreign = await visitor.chromium.browser.newPage();
    const before = visitor.doctor.calls.filter((call) => call.startsWith('break')).length;
    const address = `${visitor.dashboard.origin}/locks/${STEP}`.replaceAll('&', '&amp;');
    const fields = '<input name="reason" value="x"><input name="grace" value="0">';
    await foreign.setContent(
      `<form method="post" action="${address}">${fields}</form><iframe src="${visitor.dashboard.origin}/locks/list"></iframe>`,
    );
    expect(foreign.frames().map((frame) => frame.url())).not.toContain(`${visitor.dashboard.origin}/locks/list`);
    const [answer] = await Promise.all([foreign.waitForNavigation(), foreign.evaluate('document.forms[0].submit()')]);
    expect(answer?.status()).toBe(403);
    expect(visitor.doctor.calls.filter((call) => call.startsWith('break'))).toHaveLength(before);
    await foreign.close();
  });

  it('shows hostile labels as the texts that they are', async () => {
    const hostile = `<img src=x onerror="document.title='mine'"><script>document.title='mine'</script>\u202e`;
    const key = `/locks/${hostile}`;
    const holders = [madeUpContender(key, { label: hostile, host: hostile, template: hostile })];
    visitor.doctor.locks = () =>
      lockScan({ at: new Date(), unreadable: 0, locks: [madeUpRow({ key, holders, template: hostile })] });
    visitor.doctor.calls.length = 0;
    await visitor.open('list');
    await visitor.until(`document.querySelector('.locks tbody th')?.textContent.includes('onerror')`);
    expect(await visitor.evaluate(`document.querySelectorAll('main img, main script').length`)).toBe(0);
    expect(await visitor.evaluate('document.title')).toBe('Locks');
    expect((await visitor.keys())[0]).toContain(`</script>\\u202e`);
    await Promise.all([visitor.page.waitForNavigation(), visitor.page.click('.locks tbody th a')]);
    expect(visitor.doctor.calls).toContain(`inspect ${key}`);
  });

  it('runs no script that stands in a page, asks no other server, and has no error', async () => {
    await visitor.open('list');
    await visitor.sees('#live-state', 'Live');
    expect(visitor.problems).toEqual([]);
    expect(visitor.elsewhere).toEqual([]);
    await visitor.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { text: 'window.mine = 1' }))`,
    );
    expect(await visitor.evaluate('window.mine')).toBeUndefined();
    expect(visitor.problems).toEqual([expect.stringContaining('Content Security Policy')]);
  });
});
