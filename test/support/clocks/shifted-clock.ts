import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { installWithoutStarting } from '../debian-services/install.js';
import { run } from '../find-zookeeper/command.js';

const PACKAGE = 'libfaketime';
const ADVICE = `The tests of clocks that differ need libfaketime. Install it (Debian: apt-get install ${PACKAGE}), or set LIBFAKETIME to libfaketimeMT.so.1.`;

/** The environment of a process whose wall clock is ahead by so much, or behind. Its monotonic clock stays true. */
export async function shiftedClock(byMs: number): Promise<Readonly<Record<string, string>>> {
  if (byMs === 0) return {};
  const sign = byMs > 0 ? '+' : '-';
  return {
    LD_PRELOAD: await library(),
    FAKETIME: `${sign}${Math.abs(byMs) / 1_000}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

async function library(): Promise<string> {
  const found = await libraryHere();
  if (found !== undefined) return found;
  await installWithoutStarting([PACKAGE], ADVICE);
  const installed = await libraryHere();
  if (installed === undefined) throw new Error(`${PACKAGE} is installed, yet not to be found. ${ADVICE}`);
  return installed;
}

async function libraryHere(): Promise<string | undefined> {
  const named = process.env['LIBFAKETIME'];
  if (named !== undefined && named !== '') return named;
  const files = await run('dpkg', ['-L', PACKAGE]).catch(() => '');
  const [folder] = files.split('\n').filter((line) => line.endsWith('/faketime'));
  // Node has threads of its own, which the other library there does not bear.
  const names = folder === undefined ? [] : await readdir(folder).catch(() => []);
  const name = names.find((one) => one.startsWith('libfaketimeMT.so'));
  return name === undefined ? undefined : join(folder!, name);
}
