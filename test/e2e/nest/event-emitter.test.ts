import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, type LoggerService } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { CurrentLock, injected, type LockHandle, Locked, LockService, LockTimeoutError } from '../../../lib/index.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { LONG_LEASE, untilLost } from '../support/until-aborted.js';

const BUSY = '/locks/busy';
const QUICK = { waitMs: 0 };

@Injectable()
class Listener {
  constructor(private readonly locks: LockService) {}

  @OnEvent('above')
  @Locked(BUSY, QUICK)
  async above(): Promise<void> {}

  @Locked(BUSY, QUICK)
  @OnEvent('below')
  async below(): Promise<void> {}

  @OnEvent('skipping')
  @Locked(BUSY, { ...QUICK, onBusy: 'skip' })
  async skipping(): Promise<void> {}

  @OnEvent('throwing', { suppressErrors: false })
  @Locked(BUSY, QUICK)
  async throwing(): Promise<void> {}

  @OnEvent('nesting')
  @Locked('/locks/free')
  async nesting(): Promise<void> {
    await this.locks.withLock(BUSY, () => undefined, QUICK);
  }

  @OnEvent('failing')
  @Locked('/locks/free')
  async failing(): Promise<void> {
    throw new Error('of its own');
  }

  @OnEvent('misusing')
  @Locked('/locks/:id', { keys: () => ({ id: 'a' }), mode: 'read' })
  async misusing(): Promise<void> {
    await this.locks.withLock('/locks/a', () => undefined);
  }

  @OnEvent('losing')
  @Locked('/locks/lost', LONG_LEASE)
  async losing(@CurrentLock() lock: LockHandle = injected()): Promise<void> {
    await untilLost(lock);
  }

  @Locked(BUSY, QUICK)
  async asked(): Promise<void> {}
}

/** All that an operator sees of what is told as a warning or an error. */
class Troubles implements LoggerService {
  #lines: string[] = [];
  readonly warn = (message: unknown): void => void this.#lines.push(`warn: ${String(message)}`);
  readonly error = (message: unknown): void => void this.#lines.push(`error: ${String(message)}`);
  log(): void {}

  /** Since the last question. */
  take(): string[] {
    return this.#lines.splice(0);
  }
}

describe('the log of an event listener with @Locked, of whose error the event emitter tells the message alone,', () => {
  let application: TestApplication;
  let held: LockHandle;
  const troubles = new Troubles();

  beforeAll(async () => {
    const metadata = { imports: [EventEmitterModule.forRoot()], providers: [Listener] };
    application = await startApplication(metadata, {}, (app) => app.useLogger(troubles));
    held = await application.locks.acquire(BUSY, { label: 'the holder' });
    // What the connection was warned of is no subject of this.
    troubles.take();
  });
  afterAll(async () => {
    await held.release();
    await application.app.close();
  });

  async function linesOf(event: string): Promise<string[]> {
    await application.get(EventEmitter2).emitAsync(event);
    return troubles.take();
  }

  it.each(['above', 'below'])(
    'names the method and the key where the lock is busy (@OnEvent stands %s)',
    async (event) => {
      expect(await linesOf(event)).toEqual([
        expect.stringMatching(
          new RegExp(`^warn: Listener\\.${event} did not run for an event\\. LOCK_TIMEOUT: .*${BUSY}`),
        ),
        expect.stringMatching(/^error: The lock is busy/),
      ]);
    },
  );

  it('names them where another lock was busy inside', async () => {
    expect(await linesOf('nesting')).toEqual([
      expect.stringMatching(new RegExp(`^warn: Listener\\.nesting failed at an event\\. LOCK_TIMEOUT: .*${BUSY}`)),
      expect.stringMatching(/^error: The lock is busy/),
    ]);
  });

  it('says nothing of an event that the method itself lets go', async () => {
    expect(await linesOf('skipping')).toEqual([]);
  });

  it("says nothing of the method's own errors", async () => {
    expect(await linesOf('failing')).toEqual(['error: of its own']);
  });

  it('says nothing where the publisher is given the error', async () => {
    await expect(linesOf('throwing')).rejects.toThrow(LockTimeoutError);
    expect(troubles.take()).toEqual([]);
  });

  it('says nothing of other methods: their callers are given the error', async () => {
    await expect(application.get(Listener).asked()).rejects.toThrow(LockTimeoutError);
    expect(troubles.take()).toEqual([]);
  });

  it.each([
    ['misusing', /\/locks\/a/],
    ['losing', /was lost after/],
  ])('says once what others of ours have told (%s)', async (event, what) => {
    const lines = await linesOf(event);
    expect(lines.filter((line) => what.test(line))).toHaveLength(1);
  });
});
