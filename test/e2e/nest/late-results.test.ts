import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defer, lastValueFrom, NEVER, Observable } from 'rxjs';
import { CurrentLock, currentLock, injected, Locked, LockHandle } from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { startApplication } from '../support/application.js';
import { Recorder } from '../support/recorder.js';
import { LONG_LEASE, loseSoon, untilLost } from '../support/until-aborted.js';

/** As Node's own functions reject when their signal aborts. */
class AbortError extends Error {
  override readonly name = 'AbortError';
  constructor(cause: unknown) {
    super('The operation was aborted', { cause });
  }
}

@Injectable()
class Stopping {
  @Locked('/locks/a', LONG_LEASE)
  async stops(error: (lock: LockHandle) => unknown, @CurrentLock() lock: LockHandle = injected()): Promise<void> {
    await untilLost(lock);
    throw error(lock);
  }

  @Locked('/locks/a', LONG_LEASE)
  async deaf(going: Promise<void>, @CurrentLock() lock: LockHandle = injected()): Promise<void> {
    loseSoon(lock);
    await going;
  }

  @Locked('/locks/a', LONG_LEASE)
  stream(): Observable<number> {
    return losing();
  }

  @Locked('/locks/a', LONG_LEASE)
  async promisedStream(): Promise<Observable<number>> {
    return losing();
  }

  @Locked('/locks/a', LONG_LEASE)
  async *rows(
    next: (lock: LockHandle) => Promise<void>,
    @CurrentLock() lock: LockHandle = injected(),
  ): AsyncGenerator<LockHandle> {
    yield lock;
    await next(lock);
    yield lock;
  }
}

/** A stream that says nothing, and loses its lock once somebody listens. */
function losing(): Observable<number> {
  return defer(() => {
    loseSoon(currentLock());
    return NEVER;
  });
}

async function allOf(
  rows: AsyncGenerator<LockHandle>,
  between: (lock: LockHandle) => Promise<void> = async () => undefined,
): Promise<void> {
  for await (const lock of rows) await between(lock);
}

/** What is logged of a call that loses its lock. What goes on behind the loss ends when the caller has been told. */
async function warningsOfLateResults(
  call: (service: Stopping, going: Promise<void>) => Promise<unknown>,
): Promise<string[]> {
  const recorder = new Recorder();
  await using application = await startApplication({ providers: [Stopping] }, {}, (app) => app.useLogger(recorder));
  let isOver = false;
  application.locks.events$.subscribe(({ type }) => (isOver ||= type === 'late-result'));
  let stop!: () => void;
  const outcome = call(application.get(Stopping), new Promise((resolve) => (stop = resolve))).catch(() => undefined);
  await eventually('it is lost', () => recorder.find('was lost').length > 0);
  await outcome;
  stop();
  await eventually('it is over', () => isOver);
  return recorder.find('warn: The work under the lock');
}

describe('the log of a method whose lock was lost', () => {
  it.each<[string, (service: Stopping) => Promise<unknown>]>([
    ['with the reason', (service) => service.stops((lock) => lock.signal.reason)],
    ['with an AbortError', (service) => service.stops(({ signal }) => new AbortError(signal.reason))],
    ['as a stream', (service) => lastValueFrom(service.stream())],
    ['as a stream of a promise', async (service) => lastValueFrom(await service.promisedStream())],
    [
      'between two rows',
      (service) =>
        allOf(
          service.rows(async () => undefined),
          untilLost,
        ),
    ],
    ['within a row', (service) => allOf(service.rows((lock) => untilLost(lock).then(() => lock.assertHeld())))],
  ])('does not warn of what stopped because of the loss: %s', async (_how, call) => {
    const warnings = await warningsOfLateResults((service) => call(service));

    expect(warnings).toEqual([]);
  });

  it.each<[string, (service: Stopping, going: Promise<void>) => Promise<unknown>]>([
    ['with another error', (service) => service.stops(() => new Error('ECONNRESET'))],
    ['as a method that is deaf', (service, going) => service.deaf(going)],
    ['within a row', (service, going) => allOf(service.rows((lock) => (loseSoon(lock), going)))],
  ])('warns of what may have gone on behind the loss: %s', async (_how, call) => {
    expect(await warningsOfLateResults(call)).toHaveLength(1);
  });
});
