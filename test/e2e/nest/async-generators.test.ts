import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  CurrentLock,
  currentLock,
  injected,
  LockAbortedError,
  type LockHandle,
  LockLostError,
  Locked,
} from '../../../lib/index.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { within } from '../../support/process/eventually.js';
import { telling } from '../../support/telling.js';
import { LONG_LEASE, loseSoon, untilLost } from '../support/until-aborted.js';
import { untilFree, untilQueued } from '../support/queue.js';

@Injectable()
class Rows {
  readonly closed: string[] = [];

  @Locked('/locks/a')
  async *rows(@CurrentLock() lock: LockHandle = injected()): AsyncGenerator<boolean, string, string | undefined> {
    try {
      const heard = yield currentLock() === lock;
      this.closed.push(`heard ${heard}`);
      yield currentLock() === lock;
      return 'end';
    } finally {
      this.closed.push(`closed ${currentLock()?.key}`);
    }
  }

  @Locked('/locks/watched', { subscribeWithinMs: 50 })
  async *watched(): AsyncGenerator<string> {
    try {
      this.closed.push('began');
      yield 'first';
      yield 'second';
    } finally {
      this.closed.push(`closed ${currentLock()?.key}`);
    }
  }

  @Locked('/locks/watched', { subscribeWithinMs: 50, waitMs: 0, onBusy: () => ['one', 'two'] })
  async *replaced(): AsyncGenerator<string> {
    yield 'ran';
  }

  @Locked('/locks/outer')
  @Locked('/locks/inner')
  async *twice(): AsyncGenerator<string | undefined> {
    yield currentLock()?.key;
  }

  @Locked('/locks/a')
  async *failing(): AsyncGenerator<string> {
    yield 'first';
    throw new Error('of its own');
  }

  @Locked('/locks/a')
  async *catching(): AsyncGenerator<string> {
    try {
      yield 'first';
    } catch (error) {
      yield `caught ${String(error)}`;
    } finally {
      await Promise.reject(new Error('failed to close'));
    }
  }

  @Locked('/locks/a', LONG_LEASE)
  async *slowlyRead(@CurrentLock() lock: LockHandle = injected()): AsyncGenerator<LockHandle> {
    try {
      yield lock;
      this.closed.push('went on without the lock');
    } finally {
      this.closed.push('closed');
    }
  }

  @Locked('/locks/a', LONG_LEASE)
  async *stuck(): AsyncGenerator<string> {
    yield 'first';
    loseSoon(currentLock());
    await new Promise(() => undefined);
  }

  @Locked('/locks/a', { returns: 'async-iterable' })
  delegated(): AsyncIterable<boolean> {
    return this.rows();
  }

  @Locked('/locks/a')
  async returned(result: unknown): Promise<unknown> {
    return result;
  }

  @Locked('/locks/a')
  async misdeclared(): Promise<AsyncGenerator<boolean>> {
    return this.rows();
  }
}

describe('@Locked on an async generator', () => {
  let application: TestApplication;
  let service: Rows;
  beforeAll(async () => {
    application = await startApplication({ providers: [Rows] });
    service = application.get(Rows);
  });
  afterAll(() => application.app.close());

  it('runs every step in the context of the lock, and passes values both ways', async () => {
    service.closed.length = 0;
    const rows = service.rows();
    expect((await application.locks.inspect('/locks/a')).state).toBe('FREE');

    expect(await rows.next('ignored')).toEqual({ done: false, value: true });
    expect((await application.locks.inspect('/locks/a')).state).toBe('HELD');
    expect(await rows.next('hello')).toEqual({ done: false, value: true });
    expect(await rows.next('')).toEqual({ done: true, value: 'end' });
    expect(service.closed).toEqual(['heard hello', 'closed /locks/a']);
    await untilFree(application.locks, '/locks/a');
  });

  it('gives the lock back when the loop is left, after the method has closed', async () => {
    service.closed.length = 0;
    for await (const row of service.rows()) {
      expect(row).toBe(true);
      break;
    }

    expect(service.closed).toEqual(['closed /locks/a']);
    await untilFree(application.locks, '/locks/a');
  });

  it.each(['return', 'throw'] as const)('stops waiting when it is left by %s, and runs no step', async (leave) => {
    service.closed.length = 0;
    const held = await application.locks.acquire('/locks/watched');
    const rows = service.watched();
    const first = rows.next();
    await untilQueued(application.locks, held.key);

    const left = rows[leave]('why').catch((error: unknown) => error);
    expect(await within(5_000, 'the wait ends', first)).toEqual({ done: true, value: undefined });
    expect(await left).toEqual(leave === 'return' ? { done: true, value: 'why' } : 'why');
    await untilQueued(application.locks, held.key, 0);
    await held.release();
    expect(await rows.next()).toEqual({ done: true, value: undefined });
    expect(service.closed).toEqual([]);
  });

  it('runs no step when it is left in the moment in which the lock comes', async () => {
    service.closed.length = 0;
    for (let turns = 0; turns < 30; turns += 1) {
      const rows = service.watched();
      const first = rows.next();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const left = rows.return(undefined);
      const result = await first;
      await left;
      expect(service.closed.splice(0)).toEqual(result.done === true ? [] : ['began', 'closed /locks/watched']);
      await untilFree(application.locks, '/locks/watched');
    }
  });

  it('holds nothing while nobody asks for a step, and goes back when nobody asks for the next', async () => {
    service.closed.length = 0;
    const rows = service.watched();
    expect((await application.locks.inspect('/locks/watched')).state).toBe('FREE');
    expect(await rows.next()).toEqual({ done: false, value: 'first' });

    await untilFree(application.locks, '/locks/watched');
    expect(service.closed).toEqual(['began', 'closed /locks/watched']);
    const tooLate = await rows.next().catch((error: unknown) => error);
    expect(tooLate).toBeInstanceOf(LockAbortedError);
    expect(tooLate).toMatchObject({ name: 'LockAbortedError', code: 'LOCK_ABORTED', key: '/locks/watched' });
    expect(String(tooLate)).toBe(
      'LockAbortedError: The lock was released, because the next value under it was not asked for in time',
    );
    expect(tooLate).toEqual(
      telling(
        'Nobody asked for the next value of what Rows.watched returned within 50 ms of the one before, so its lock ' +
          '/locks/watched was released. A loop that takes longer than that for one value needs a higher subscribeWithinMs',
      ),
    );
    expect(await rows.next()).toEqual({ done: true, value: undefined });
  });

  it('waits as long as it is asked where something else took the place of a busy call', async () => {
    await using held = await application.locks.acquire('/locks/watched');
    const rows = service.replaced();
    expect(await rows.next()).toEqual({ done: false, value: 'one' });
    await pause(150);
    expect(held.isHeld()).toBe(true);
    expect(await rows.next()).toEqual({ done: false, value: 'two' });
  });

  it('may be decorated twice', async () => {
    const rows = service.twice();
    expect(await rows.next()).toEqual({ done: false, value: '/locks/inner' });
    await rows.return(undefined);
    await untilFree(application.locks, '/locks/outer');
  });

  it('hands on the error of the method', async () => {
    const rows = service.failing();
    await rows.next();

    await expect(rows.next()).rejects.toThrow('of its own');
    await untilFree(application.locks, '/locks/a');
  });

  it('hands on what is thrown into it, and an error while it is being left', async () => {
    const rows = service.catching();
    await rows.next();
    expect(await rows.throw('a stone')).toEqual({ done: false, value: 'caught a stone' });

    await expect(rows.return(undefined)).rejects.toThrow('failed to close');
    await untilFree(application.locks, '/locks/a');
  });

  it('fails when the lock is lost, even where the method is stuck', async () => {
    const rows = service.stuck();
    const read = async (): Promise<void> => {
      await rows.next();
      await rows.next();
    };

    await expect(read()).rejects.toThrow(LockLostError);
  });

  it('takes no step more when the lock was lost between two steps, and closes the method', async () => {
    service.closed.length = 0;
    const rows = service.slowlyRead();
    await untilLost((await rows.next()).value as LockHandle);

    await expect(rows.next()).rejects.toThrow(LockLostError);
    expect(service.closed).toEqual(['closed']);
  });

  it('works for an iterable by returns, and refuses a generator that came by a promise', async () => {
    const iterator = service.delegated()[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: true });
    await iterator.return?.();

    await expect(service.misdeclared()).rejects.toThrow(/Rows.misdeclared returned an iterator/);
  });

  it('refuses what else would run behind the lock, and lets pass what only looks like it', async () => {
    async function* later(): AsyncGenerator<string> {
      yield 'late';
    }
    function* soon(): Generator<string> {
      yield 'soon';
    }
    const next = async (): Promise<object> => ({ done: true });
    const lazy = { next, [Symbol.asyncIterator]: later };
    for (const result of [lazy, soon(), later()]) {
      await expect(service.returned(result)).rejects.toThrow(/would run without the lock/);
    }
    const page = { data: ['a'], [Symbol.asyncIterator]: later };
    for (const result of [page, ['a'], new Set(['a']), Readable.from(['a']), { a: 1 }, 'text', null]) {
      expect(await service.returned(result)).toBe(result);
    }
  });
});
