import { writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { LockLostError } from '../../../lib/lock/errors.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { createLockService } from '../../../lib/open.js';
import { sendToParent } from '../process/parent.js';
import { Accounts, type Balances } from './accounts.js';
import { lineOf, type Step, type WhenToDie } from './steps.js';

/**
 * Transfers money between two accounts under a lock until it dies, as it was told or by its parent. Its diary goes to stdout, line by
 * line, each written by one call before the next step.
 */
const [connect = '', sessionMs = '', tickMs = '', key = '', folder = '', recovers = ''] = process.argv.slice(2);
const MOST = 50;
const accounts = new Accounts(folder);
let transfers = 0;

const told = new Promise<WhenToDie | Record<string, never>>((resolve) => process.once('message', resolve));
await sendToParent('ready');
const when = await told;

function say(step: Step, ...facts: readonly unknown[]): void {
  writeSync(process.stdout.fd, lineOf({ step, facts: facts.map(String) }));
}

/** Says it, and dies there if it was told to. */
function at(step: Step, ...facts: readonly unknown[]): void {
  say(step, ...facts);
  if (step === when.step && transfers >= when.transfer) die();
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Writes both accounts, one after the other. */
async function write({ one, other }: Balances, lock: LockHandle, between: Step): Promise<void> {
  lock.assertHeld();
  accounts.write('one', one);
  at(between);
  await turn();
  lock.assertHeld();
  accounts.write('other', other);
}

/** Does what was begun once more: who died had written down what the balances were to be. */
async function recover(lock: LockHandle): Promise<void> {
  const { token, checkpoint, recoverer } = lock.abandoned!;
  at('recovers', token, recoverer?.token ?? 'nobody');
  if (checkpoint !== undefined) await write(checkpoint as Balances, lock, 'repaired one');
  at('repaired');
}

async function transfer(): Promise<void> {
  const options =
    recovers === 'recovers' ? ({ onAbandoned: 'recover', recover } as const) : { onAbandoned: 'enter' as const };
  at('asks');
  const acquiring = locks.acquire(key, options);
  await turn();
  at('asked');
  const lock = await acquiring;
  at('enters', accounts.sum(), lock.abandoned?.token ?? 'nobody');
  const { one, other } = accounts.read();
  const amount = Math.ceil(Math.random() * MOST);
  const after = { one: one - amount, other: other + amount };
  await lock.checkpoint(after);
  at('noted');
  await write(after, lock, 'wrote one');
  at('wrote both');
  const releasing = lock.release();
  at('releases');
  await turn();
  at('has sent its release');
  await releasing;
  at('released');
}

const locks = await createLockService({ connect, sessionTimeoutMs: Number(sessionMs), serverTickMs: Number(tickMs) });
await sendToParent('connected');
try {
  while (when.step !== 'leaves' || transfers < when.transfer) {
    transfers += 1;
    await transfer();
  }
  await locks.close();
  say('leaves');
  process.disconnect();
} catch (error) {
  if (!(error instanceof LockLostError)) throw error;
  // On a machine that stands still a process may lose its lock: it ends there, as one that crashes.
  say('loses');
  die();
}
