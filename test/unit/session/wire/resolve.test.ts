import { describe, expect, it } from '@jest/globals';
import { LookupGate, type LookupCallback } from '../../../../lib/session/wire/lookup-gate.js';
import {
  addressesWithoutAsking,
  SystemNameResolver,
  type ResolutionListener,
  type ThreadlessQuery,
} from '../../../../lib/session/wire/resolve.js';

/** Answers only when told to. */
class HeldLookup {
  readonly asked: string[] = [];
  private readonly callbacks: LookupCallback[] = [];
  readonly lookup = (host: string, done: LookupCallback): void => {
    this.asked.push(host);
    this.callbacks.push(done);
  };

  answer(addresses: readonly string[]): void {
    this.callbacks.shift()?.(null, addresses);
  }

  fail(message: string): void {
    this.callbacks.shift()?.(new Error(message), []);
  }
}

class HeldQuery implements ThreadlessQuery {
  asked: string | undefined;
  cancelled = false;
  answer: (addresses: readonly string[]) => void = () => undefined;

  find(host: string, done: (addresses: readonly string[]) => void): void {
    this.asked = host;
    this.answer = done;
  }

  cancel(): void {
    this.cancelled = true;
  }
}

/** Only what is set on it, fired by hand. */
class HeldTimers {
  readonly pending = new Set<{ delayMs: number; callback: () => void }>();

  now(): number {
    return 0;
  }

  setTimer(delayMs: number, callback: () => void) {
    const timer = { delayMs, callback };
    this.pending.add(timer);
    return { cancel: () => void this.pending.delete(timer) };
  }

  fire(): void {
    for (const timer of [...this.pending]) {
      this.pending.delete(timer);
      timer.callback();
    }
  }
}

class Told implements ResolutionListener {
  readonly addresses: (readonly string[])[] = [];
  readonly causes: string[] = [];

  onResolved(addresses: readonly string[]): void {
    this.addresses.push(addresses);
  }

  onUnresolved(cause: Error): void {
    this.causes.push(cause.message);
  }
}

function setUp() {
  const system = new HeldLookup();
  const gate = new LookupGate(system.lookup);
  const queries: HeldQuery[] = [];
  const timers = new HeldTimers();
  const open = () => {
    const opened = new HeldQuery();
    queries.push(opened);
    return opened;
  };
  return { system, queries, timers, resolver: new SystemNameResolver(gate, open, timers) };
}

describe('addressesWithoutAsking', () => {
  it.each([
    ['10.0.0.1', ['10.0.0.1']],
    ['::1', ['::1']],
    ['[fe80::1]', ['fe80::1']],
    ['localhost', ['127.0.0.1', '::1']],
    ['LocalHost', ['127.0.0.1', '::1']],
    ['zk1', undefined],
  ])('%s', (host, addresses) => {
    expect(addressesWithoutAsking(host)).toEqual(addresses);
  });
});

describe('SystemNameResolver', () => {
  it('asks the system alone when that answers soon', () => {
    const { system, queries, timers, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told);
    system.answer(['10.0.0.1', '10.0.0.2']);

    expect(told.addresses).toEqual([['10.0.0.1', '10.0.0.2']]);
    expect(queries).toHaveLength(0);
    expect(timers.pending.size).toBe(0);
  });

  it('asks the name servers, too, when the system is slow; the first that finds something wins', () => {
    const { system, queries, timers, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told);
    expect([...timers.pending].map(({ delayMs }) => delayMs)).toEqual([250]);
    timers.fire();
    queries[0]?.answer(['10.0.0.1']);
    system.answer(['10.9.9.9']);

    expect(told.addresses).toEqual([['10.0.0.1']]);
    expect(queries[0]).toMatchObject({ asked: 'zk1' });
  });

  it('lets one look-up at a time through, whatever hangs, and asks the name servers at once meanwhile', () => {
    const { system, queries, resolver } = setUp();
    const told = [new Told(), new Told(), new Told()];
    ['dead', 'zk1', 'zk2'].forEach((host, at) => resolver.resolve(host, told[at] ?? new Told()));
    expect(system.asked).toEqual(['dead']);
    expect(queries.map(({ asked }) => asked)).toEqual(['zk1', 'zk2']);

    queries[0]?.answer(['10.0.0.1']);
    expect(told[1]?.addresses).toEqual([['10.0.0.1']]);

    // A name that only the system knows waits for its turn, which comes although the first one failed.
    queries[1]?.answer([]);
    expect(told[2]?.causes).toEqual([]);
    system.fail('timed out');
    expect(told[0]?.causes).toEqual(['timed out']);
    expect(system.asked).toEqual(['dead', 'zk2']);
    system.answer(['10.0.0.2']);
    expect(told[2]?.addresses).toEqual([['10.0.0.2']]);
  });

  it('shares one look-up among all who ask for the same name', () => {
    const { system, resolver } = setUp();
    const told = [new Told(), new Told()];
    for (const each of told) resolver.resolve('zk1', each);
    system.answer(['10.0.0.1']);

    expect(system.asked).toEqual(['zk1']);
    expect(told.map(({ addresses }) => addresses)).toEqual([[['10.0.0.1']], [['10.0.0.1']]]);
  });

  it('fails at once when the system does not know the name, but waits for name servers that were asked', () => {
    const { system, queries, timers, resolver } = setUp();
    const told = [new Told(), new Told()];
    resolver.resolve('zk1', told[0] ?? new Told());
    system.fail('ENOTFOUND');
    expect(told[0]?.causes).toEqual(['ENOTFOUND']);
    expect(timers.pending.size).toBe(0);

    resolver.resolve('zk2', told[1] ?? new Told());
    timers.fire();
    system.fail('ENOTFOUND');
    expect(told[1]?.causes).toEqual([]);
    queries[0]?.answer([]);
    expect(told[1]?.causes).toEqual(['ENOTFOUND']);
  });

  it('takes no address for a failure', () => {
    const { system, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told);
    system.answer([]);

    expect(told.causes).toEqual(['the name zk1 has no address']);
  });

  it('says nothing after it was cancelled, and asks nothing more', () => {
    const { system, queries, timers, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told).cancel();
    const waiting = resolver.resolve('zk2', told);
    waiting.cancel();
    system.answer(['10.0.0.1']);
    queries[0]?.answer(['10.0.0.2']);

    expect(told).toMatchObject({ addresses: [], causes: [] });
    expect(queries[0]?.cancelled).toBe(true);
    expect(timers.pending.size).toBe(0);
    expect(system.asked).toEqual(['zk1']);
  });
});
