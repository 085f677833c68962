import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, launch } from 'puppeteer-core';
import type { Log } from '../../support/find-zookeeper/command.js';
import { aptInstall, whyNotDebianAsRoot } from '../../support/find-zookeeper/debian.js';
import { folderRemoved, killWithUs, removeWithUs } from '../../support/process/reaper.js';

/** Installing the browser, where it is missing. */
export const INSTALL_WITHIN_MS = 300_000;

const CHROMIUM = '/usr/bin/chromium';
/** No calls home, no sandbox (it does not start as root), nothing that a virtual machine lacks. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const logToStderr: Log = (line) => process.stderr.write(`[chromium] ${line}\n`);

/** A browser with a profile of its own, that goes away with the test. */
export interface TestBrowser extends AsyncDisposable {
  readonly browser: Browser;
}

export async function startChromium(): Promise<TestBrowser> {
  const executablePath = await findChromium();
  const profile = await mkdtemp(join(tmpdir(), 'chromium-test-'));
  removeWithUs(profile);
  const browser = await launch({ executablePath, args: FLAGS, userDataDir: profile, timeout: 60_000 });
  const child = browser.process();
  if (child !== null) killWithUs(child);
  return {
    browser,
    async [Symbol.asyncDispose]() {
      await browser.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
      folderRemoved(profile);
    },
  };
}

/** `CHROMIUM`, or Debian's, which is installed where it is missing and that can be done. */
async function findChromium(): Promise<string> {
  const path = process.env['CHROMIUM'] ?? CHROMIUM;
  if (await exists(path)) return path;
  const obstacle = await whyNotDebianAsRoot();
  if (obstacle !== undefined || path !== CHROMIUM) {
    const reason = path === CHROMIUM ? obstacle : 'the environment variable CHROMIUM names it';
    throw new Error(
      `No Chromium at ${path}: ${reason}. Install one (Debian: apt-get install chromium), or set CHROMIUM to its program`,
    );
  }
  await aptInstall(['chromium'], logToStderr);
  if (await exists(path)) return path;
  throw new Error(`Debian's package chromium was installed, and there is still no ${path}`);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
