import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { ABANDONED_KEY, ScriptedDoctor } from '../../support/dashboard/scripted-doctor.js';
import { startChromium, type TestBrowser } from './chromium.js';
import { startDashboard, type TestDashboard } from './dashboard.js';

export const LOCK_KEY = '/locks/accounts/41970/settle';
/** The addresses of a lock that the scripted doctor knows. */
export const LOCK = `lock?${new URLSearchParams({ key: LOCK_KEY }).toString()}`;
export const ABANDONED = `lock?${new URLSearchParams({ key: ABANDONED_KEY }).toString()}`;
export const STEP = `step?${new URLSearchParams({ do: 'break', key: LOCK_KEY, token: '4294967397' }).toString()}`;

/** A browser that looks at a dashboard with ten thousand locks, and remembers what went wrong. */
export class DashboardVisitor implements AsyncDisposable {
  /** Errors and warnings of the page. */
  problems: string[] = [];
  /** Requests to other servers. */
  readonly elsewhere: string[] = [];

  private constructor(
    readonly doctor: ScriptedDoctor,
    readonly dashboard: TestDashboard,
    readonly chromium: TestBrowser,
    readonly page: Page,
  ) {
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => this.problems.push(String(error)));
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) this.problems.push(message.text());
    });
    page.on('request', (request) => {
      const isOwn = /^(?:data:|blob:)/.test(request.url()) || request.url().startsWith(dashboard.origin);
      if (!isOwn) this.elsewhere.push(request.url());
    });
  }

  static async start(): Promise<DashboardVisitor> {
    const doctor = new ScriptedDoctor();
    const settings = { mayOperate: () => true, operatorOf: () => 'ada', scanEveryMs: 500 };
    const [dashboard, chromium] = await Promise.all([startDashboard({ doctor, dashboard: settings }), startChromium()]);
    return new DashboardVisitor(doctor, dashboard, chromium, await chromium.browser.newPage());
  }

  open(address: string): Promise<unknown> {
    return this.page.goto(`${this.dashboard.origin}/locks/${address}`);
  }

  /** Waits until such an element has that text. */
  sees(selector: string, text: string): Promise<unknown> {
    return this.page.waitForSelector(`${selector}::-p-text(${text})`);
  }

  async evaluate<T>(expression: string): Promise<T> {
    return (await this.page.evaluate(expression)) as T;
  }

  until(expression: string): Promise<unknown> {
    return this.page.waitForFunction(expression);
  }

  /** The keys in the table, from above. */
  keys(): Promise<string[]> {
    return this.evaluate(`[...document.querySelectorAll('.locks tbody th')].map((one) => one.textContent.trim())`);
  }

  async screen(width: number, scheme: string): Promise<void> {
    await this.page.setViewport({ width, height: 800 });
    await this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  }

  /** For people: TEST_SCREENSHOTS names a folder. */
  async photograph(name: string): Promise<void> {
    const folder = process.env['TEST_SCREENSHOTS'];
    if (folder !== undefined) await this.page.screenshot({ path: join(folder, `dashboard-${name}.png`) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
    await this.dashboard[Symbol.asyncDispose]();
    await this.chromium[Symbol.asyncDispose]();
  }
}
