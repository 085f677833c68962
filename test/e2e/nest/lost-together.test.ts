import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { LockTesting, type LockTestingOptions, provideLockTesting } from '../../../lib/extras/testing/index.js';
import { Fence, injected, Locked, type LockHandle, type LockLoss, LockLostError } from '../../../lib/index.js';
import { freePort } from '../../support/proxy/ports.js';
import { eventually } from '../../support/process/eventually.js';
import { startApplication } from '../support/application.js';
import { LONG_LEASE, untilLost } from '../support/until-aborted.js';

const KEY = '/locks/report';
const READERS = 3;
/** All have to be inside before it ends, on a busy machine too. */
const SESSION_MS = 3_000;

@Injectable()
class Reports {
  readonly tokens: bigint[] = [];

  @Locked(KEY, { mode: 'read', onLost })
  async read(@Fence() token: bigint = injected()): Promise<void> {
    this.tokens.push(token);
    await new Promise<never>(() => undefined);
  }
}

@Injectable()
class LocalReports {
  @Locked(KEY, { mode: 'read', onLost })
  async read(entered: () => void, end: Promise<void>): Promise<void> {
    entered();
    await end;
  }
}

const told: LockLoss[] = [];
function onLost(loss: LockLoss): void {
  told.push(loss);
}

/** Everything that its event loop would have done comes late; the servers have long since ended the session. */
function pauseThisProcess(durationMs: number): void {
  const end = performance.now() + durationMs;
  while (performance.now() < end);
}

async function startReports(options: LockTestingOptions) {
  const module = await Test.createTestingModule({ providers: [Reports, ...provideLockTesting(options)] }).compile();
  await module.init();
  return {
    reports: module.get(Reports),
    testing: module.get(LockTesting),
    [Symbol.asyncDispose]: () => module.close(),
  };
}

describe('readers that lose their locks together', () => {
  it.each<[string, LockTestingOptions, (testing: LockTesting) => Promise<unknown>]>([
    ['by the end of the session', {}, (testing) => testing.lose(KEY)],
    ['by a pause', { sessionTimeoutMs: SESSION_MS }, async () => pauseThisProcess(1.2 * SESSION_MS)],
    ['by a link that is down', { sessionTimeoutMs: SESSION_MS }, (testing) => testing.suspend()],
  ])('%s: each hook is told once, of its own token', async (_how, options, lose) => {
    told.length = 0;
    await using app = await startReports(options);
    const { reports, testing } = app;
    const reading = Array.from({ length: READERS }, () => reports.read());
    const outcomes = Promise.allSettled(reading);
    await eventually('all are inside', () => reports.tokens.length === READERS);
    await lose(testing);

    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: expect.any(LockLostError) });
    await eventually('the hooks ran', () => told.length >= READERS);
    expect(told.map(({ token }) => token).sort()).toEqual([...reports.tokens].sort());
  });
});

describe('readers of a lock of this process alone', () => {
  it('are told once each, too, though such locks have no token', async () => {
    told.length = 0;
    const connect = `127.0.0.1:${await freePort()}`;
    const options = {
      connect,
      connectTimeoutMs: 200,
      waitMs: 200,
      whenUnavailable: 'local',
      shutdownGraceMs: 0,
    } as const;
    await using application = await startApplication({ providers: [LocalReports] }, options);
    let inside = 0;
    const never = new Promise<void>(() => undefined);
    const other: LockHandle = await application.locks.acquire(KEY, { mode: 'read', ...LONG_LEASE });
    const reading = Array.from({ length: READERS }, () =>
      application.get(LocalReports).read(() => void (inside += 1), never),
    );
    const outcomes = Promise.allSettled(reading);
    await eventually('all are inside', () => inside === READERS);
    await untilLost(other);
    expect(told).toEqual([]);

    await application.app.close();
    await outcomes;
    expect(told).toHaveLength(READERS);
    expect(told.map(({ token }) => token)).toEqual([undefined, undefined, undefined]);
  });
});
