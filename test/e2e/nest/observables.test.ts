import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import {
  concat,
  firstValueFrom,
  ignoreElements,
  lastValueFrom,
  mergeMap,
  NEVER,
  Observable,
  type Observer,
  of,
  Subject,
  tap,
  throwError,
  timer,
  toArray,
} from 'rxjs';
import {
  CurrentLock,
  currentLock,
  injected,
  LockAbortedError,
  LockConfigurationError,
  type LockHandle,
  LockLostError,
  Locked,
} from '../../../lib/index.js';
import { eventually } from '../../support/process/eventually.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { untilFree, untilQueued } from '../support/queue.js';
import { LONG_LEASE, loseSoon } from '../support/until-aborted.js';
import { withoutTypes } from '../support/without-types.js';
import { telling } from '../../support/telling.js';

class MyObservable extends Observable<string> {}

@Injectable()
class Streams {
  calls = 0;
  lease: LockHandle | undefined;

  @Locked('/locks/a')
  values(): Observable<string | undefined> {
    this.calls += 1;
    return new Observable((subscriber) => {
      subscriber.next(currentLock()?.key);
      subscriber.complete();
    });
  }

  @Locked('/locks/a')
  derived(): MyObservable {
    return new MyObservable((subscriber) => subscriber.next('x'));
  }

  @Locked('/locks/:_key')
  from(_key: string, source: Observable<string>): Observable<string> {
    return source;
  }

  @Locked('/locks/a', { returns: 'observable' })
  @withoutTypes
  untyped(): Observable<string> {
    return of('x');
  }

  @Locked('/locks/a', LONG_LEASE)
  losing(ended: () => void): Observable<string> {
    return new Observable(() => {
      loseSoon(currentLock());
      return ended;
    });
  }

  @Locked('/locks/promised', { subscribeWithinMs: 50 })
  async promised(source: Observable<string>): Promise<Observable<string>> {
    return source;
  }

  @Locked('/locks/promised', LONG_LEASE)
  async leased(source: Observable<string>, @CurrentLock() lock: LockHandle = injected()): Promise<Observable<string>> {
    this.lease = lock;
    return source;
  }
}

let application: TestApplication;
let streams: Streams;
beforeAll(async () => {
  application = await startApplication({ providers: [Streams] });
  streams = application.get(Streams);
});
afterAll(() => application.app.close());

describe('@Locked on a method that returns an Observable', () => {
  it('ends a source that gives all it has at once, when its subscriber has had enough', async () => {
    let given = 0;
    const eager = new Observable<string>((subscriber) => {
      while (!subscriber.closed && given < 1_000) subscriber.next(String((given += 1)));
    });

    expect(await firstValueFrom(streams.from('eager', eager))).toBe('1');
    expect(given).toBe(1);
    await untilFree(application.locks, '/locks/eager');
  });

  it('lets an error of the end of a source come through, as without the lock', async () => {
    const failing = new Observable<string>((subscriber) => {
      subscriber.next('x');
      return () => {
        throw new Error('teardown failed');
      };
    });
    const subscription = streams.from('failing', failing).subscribe();
    await eventually('it runs', async () => (await application.locks.inspect('/locks/failing')).state === 'HELD');

    expect(() => subscription.unsubscribe()).toThrow(/teardown failed/);
    await untilFree(application.locks, '/locks/failing');
  });

  it('does nothing before somebody subscribes, and locks each subscription', async () => {
    streams.calls = 0;
    const stream = streams.values();
    expect(streams.calls).toBe(0);

    expect(await firstValueFrom(stream)).toBe('/locks/a');
    expect(await firstValueFrom(stream)).toBe('/locks/a');
    expect(streams.calls).toBe(2);
  });

  it('knows it by the declared type, a derived one too, or by returns', async () => {
    expect(streams.derived()).toBeInstanceOf(Observable);
    expect(streams.untyped()).toBeInstanceOf(Observable);
    expect(await lastValueFrom(streams.untyped().pipe(toArray()))).toEqual(['x']);
  });

  it('holds the lock until it completes', async () => {
    const source = new Subject<string>();
    const collected = lastValueFrom(streams.from('b', source).pipe(toArray()));
    await eventually('it runs', () => source.observed);
    source.next('1');
    expect((await application.locks.inspect('/locks/b')).state).toBe('HELD');

    source.next('2');
    source.complete();
    expect(await collected).toEqual(['1', '2']);
    await untilFree(application.locks, '/locks/b');
  });

  it('holds the lock until it fails, and hands the error on', async () => {
    const failing = streams.from(
      'b',
      throwError(() => new Error('of its own')),
    );

    await expect(lastValueFrom(failing)).rejects.toThrow('of its own');
    await untilFree(application.locks, '/locks/b');
  });

  it('holds the lock until it is unsubscribed from', async () => {
    const source = new Subject<string>();
    const subscription = streams.from('b', source).subscribe();
    await eventually('it runs', () => source.observed);

    subscription.unsubscribe();
    expect(source.observed).toBe(false);
    await untilFree(application.locks, '/locks/b');
  });

  it('stops waiting for the lock when it is unsubscribed from', async () => {
    await using held = await application.locks.acquire('/locks/b');
    const source = new Subject<string>();
    const subscription = streams.from('b', source).subscribe();
    await untilQueued(application.locks, held.key);

    subscription.unsubscribe();
    await untilQueued(application.locks, held.key, 0);
    expect(source.observed).toBe(false);
  });

  it('fails when the lock is lost, and unsubscribes from the source', async () => {
    let ended = 0;
    await expect(lastValueFrom(streams.losing(() => void (ended += 1)))).rejects.toThrow(LockLostError);
    expect(ended).toBe(1);
  });
});

/** What runs in which lock: the source and its operators, and the one who consumes. */
class Contexts {
  readonly seen: string[] = [];
  readonly source = new Subject<string>();

  note(what: string): void {
    this.seen.push(`${what} ${currentLock()?.key ?? 'outside'}`);
  }

  /** Gives one value while it is being subscribed to, and others later. */
  observable(): Observable<string> {
    return new Observable<string>((subscriber) => {
      this.note('source');
      subscriber.next('at once');
      const timer = setTimeout(() => {
        subscriber.next('later');
        subscriber.complete();
      }, 10);
      return () => {
        clearTimeout(timer);
        this.note('teardown');
      };
    }).pipe(tap(() => this.note('operator')));
  }

  consumer(end: () => void): Partial<Observer<string>> {
    return {
      next: (value) => this.note(value),
      error: (error: Error) => (this.note(error.name), end()),
      complete: () => (this.note('complete'), end()),
    };
  }
}

describe('who consumes a decorated Observable', () => {
  const open = async (kind: string, source: Observable<string>): Promise<Observable<string>> =>
    kind === 'declared' ? streams.from('promised', source) : await streams.promised(source);

  it.each(['declared', 'promised'])(
    '(%s) runs in its own context, and the source in that of the lock',
    async (kind) => {
      const contexts = new Contexts();
      const stream = await open(kind, contexts.observable());
      await application.locks.withLock(
        '/locks/own',
        () => new Promise<void>((end) => stream.subscribe(contexts.consumer(end))),
      );

      expect(contexts.seen).toEqual([
        ...['source /locks/promised', 'operator /locks/promised', 'at once /locks/own'],
        ...['operator /locks/promised', 'later /locks/own', 'teardown /locks/promised', 'complete /locks/own'].sort(
          (left, right) => contexts.seen.indexOf(left) - contexts.seen.indexOf(right),
        ),
      ]);
      await untilFree(application.locks, '/locks/promised');
    },
  );

  it.each(['declared', 'promised'])('(%s) leaves the source in the context of the lock', async (kind) => {
    const contexts = new Contexts();
    const stream = await open(kind, contexts.observable());
    await firstValueFrom(stream);
    expect(contexts.seen).toEqual(['source /locks/promised', 'operator /locks/promised', 'teardown /locks/promised']);
    await untilFree(application.locks, '/locks/promised');
  });

  it.each(['declared', 'promised'])('(%s) is told of an error in its own context', async (kind) => {
    const contexts = new Contexts();
    const stream = await open(
      kind,
      throwError(() => new Error('of its own')),
    );
    await new Promise<void>((end) => stream.subscribe(contexts.consumer(end)));
    expect(contexts.seen).toEqual(['Error outside']);
    await untilFree(application.locks, '/locks/promised');
  });

  it('is told of a loss in its own context', async () => {
    const contexts = new Contexts();
    const stream = await streams.leased(NEVER);
    await new Promise<void>((end) => {
      stream.subscribe(contexts.consumer(end));
      loseSoon(streams.lease);
    });
    expect(contexts.seen).toEqual(['LockLostError outside']);
  });

  it.each(['declared', 'promised'])('(%s) is told of the end when the lock has gone back', async (kind) => {
    const seen: string[] = [];
    const events = application.locks.events$.subscribe(({ type }) => void (type === 'released' && seen.push(type)));
    const ends: Observable<string>[] = [of('x'), throwError(() => new Error('of its own'))];
    for (const source of ends) {
      const stream = await open(kind, source);
      await new Promise<void>((end) =>
        stream.subscribe({
          error: (error: Error) => (seen.push(error.message), end()),
          complete: () => (seen.push('complete'), end()),
        }),
      );
    }
    events.unsubscribe();
    expect(seen).toEqual(['released', 'complete', 'released', 'of its own']);
  });

  it.each(['declared', 'promised'])('(%s) does not share the lock with the others who consume', async (kind) => {
    // It gives its values from within the lock, and goes on for long enough for all to be inside at once.
    const source = concat(of('a', 'b', 'c', 'd'), timer(30).pipe(ignoreElements()));
    const inside: string[] = [];
    let most = 0;
    const stream = await open(kind, source);
    const sections = lastValueFrom(
      stream.pipe(
        mergeMap((value) =>
          application.locks.withLock('/locks/promised', async () => {
            inside.push(value);
            most = Math.max(most, inside.length);
            await new Promise((resolve) => setImmediate(resolve));
            inside.pop();
          }),
        ),
        toArray(),
      ),
    );
    expect(await sections).toHaveLength(4);
    expect(most).toBe(1);
  });
});

describe('@Locked on an async method that brings an Observable', () => {
  it('holds the lock until the stream has ended, and subscribes inside it', async () => {
    const source = new Subject<string>();
    let key: string | undefined;
    const outer = new Observable<string>((subscriber) => {
      key = currentLock()?.key;
      return source.subscribe(subscriber);
    });
    const stream = await streams.promised(outer);
    const collected = lastValueFrom(stream.pipe(toArray()));
    source.next('1');
    expect((await application.locks.inspect('/locks/promised')).state).toBe('HELD');
    source.complete();

    expect(await collected).toEqual(['1']);
    expect(key).toBe('/locks/promised');
    await untilFree(application.locks, '/locks/promised');
  });

  it('gives the lock back when nobody subscribes in time, and says so to who comes late', async () => {
    const stream = await streams.promised(of('x'));
    await untilFree(application.locks, '/locks/promised');

    const tooLate = await lastValueFrom(stream).catch((error: unknown) => error);
    expect(tooLate).toBeInstanceOf(LockAbortedError);
    expect(tooLate).toMatchObject({ name: 'LockAbortedError', code: 'LOCK_ABORTED', key: '/locks/promised' });
    expect(String(tooLate)).toBe(
      'LockAbortedError: The lock was released, because nobody subscribed to its stream in time',
    );
    expect(tooLate).toEqual(
      telling(
        'Nobody subscribed within 50 ms to what Streams.promised returned, so its lock /locks/promised was released. ' +
          'Subscribe to it at once, or raise subscribeWithinMs in @Locked',
      ),
    );
  });

  it('keeps the lock for who has subscribed, however long the stream goes on', async () => {
    const source = new Subject<string>();
    const stream = await streams.promised(source);
    const collected = lastValueFrom(stream.pipe(toArray()));
    await pause(150);
    expect((await application.locks.inspect('/locks/promised')).state).toBe('HELD');

    source.next('late');
    source.complete();
    expect(await collected).toEqual(['late']);
    await untilFree(application.locks, '/locks/promised');
  });

  it('does not begin when the lock was lost before anybody subscribed', async () => {
    let begun = 0;
    const stream = await streams.leased(new Observable(() => void (begun += 1)));
    loseSoon(streams.lease);
    await untilFree(application.locks, '/locks/promised');

    await expect(lastValueFrom(stream)).rejects.toThrow(LockLostError);
    expect(begun).toBe(0);
  });

  it('can be subscribed to once', async () => {
    const stream = await streams.promised(NEVER);
    const subscription = stream.subscribe();

    await expect(lastValueFrom(stream)).rejects.toThrow(LockConfigurationError);
    subscription.unsubscribe();
    await untilFree(application.locks, '/locks/promised');
  });

  it('fails when the lock is lost', async () => {
    const stream = await streams.leased(NEVER);
    const last = lastValueFrom(stream);
    loseSoon(streams.lease);

    await expect(last).rejects.toThrow(LockLostError);
  });
});
