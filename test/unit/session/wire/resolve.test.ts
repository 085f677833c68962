import { describe, expect, it } from '@jest/globals';
import { LookupGate, type LookupCallback } from '../../../../lib/session/wire/lookup-gate.js';
import {
  addressesWithoutAsking,
  SystemNameResolver,
  type QueryEnd,
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
  answer: QueryEnd = () => undefined;

  find(host: string, done: QueryEnd): void {
    this.asked = host;
    this.answer = done;
  }

  cancel(): void {
    this.cancelled = true;
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
  const open = () => {
    const opened = new HeldQuery();
    queries.push(opened);
    return opened;
  };
  return { system, queries, resolver: new SystemNameResolver(gate, open) };
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
  it('asks hosts file and name servers, and leaves the system alone when they know the name', () => {
    const { system, queries, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told);
    queries[0]?.answer(['10.0.0.1', '10.0.0.2'], false);

    expect(queries[0]).toMatchObject({ asked: 'zk1' });
    expect(told.addresses).toEqual([['10.0.0.1', '10.0.0.2']]);
    expect(system.asked).toEqual([]);
  });

  it('asks the system for a name that they do not know', () => {
    const { system, queries, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told);
    queries[0]?.answer([], false);
    expect(told).toMatchObject({ addresses: [], causes: [] });
    system.answer(['10.0.0.1']);

    expect(told.addresses).toEqual([['10.0.0.1']]);
  });

  it('never lets the system wait for name servers that are silent: nobody could stop it', () => {
    const { system, queries, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told);
    queries[0]?.answer([], true);

    expect(told.causes).toEqual(['the name servers do not answer']);
    expect(system.asked).toEqual([]);
  });

  it('lets one look-up of the system at a time through, whatever hangs', () => {
    const { system, queries, resolver } = setUp();
    const told = [new Told(), new Told()] as const;
    resolver.resolve('dead', told[0]);
    resolver.resolve('zk2', told[1]);
    queries[0]?.answer([], false);
    queries[1]?.answer([], false);
    expect(system.asked).toEqual(['dead']);

    system.fail('timed out');
    expect(told[0].causes).toEqual(['timed out']);
    expect(system.asked).toEqual(['dead', 'zk2']);
    system.answer(['10.0.0.2']);
    expect(told[1].addresses).toEqual([['10.0.0.2']]);
  });

  it('shares one look-up among all who ask for the same name', () => {
    const { system, queries, resolver } = setUp();
    const told = [new Told(), new Told()];
    for (const each of told) resolver.resolve('zk1', each);
    for (const query of queries) query.answer([], false);
    system.answer(['10.0.0.1']);

    expect(system.asked).toEqual(['zk1']);
    expect(told.map(({ addresses }) => addresses)).toEqual([[['10.0.0.1']], [['10.0.0.1']]]);
  });

  it('takes no address for a failure', () => {
    const { system, queries, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told);
    queries[0]?.answer([], false);
    system.answer([]);

    expect(told.causes).toEqual(['the name zk1 has no address']);
  });

  it('says nothing after it was cancelled, and asks nothing more', () => {
    const { system, queries, resolver } = setUp();
    const told = new Told();
    resolver.resolve('zk1', told).cancel();
    queries[0]?.answer([], false);
    const second = resolver.resolve('zk2', told);
    queries[1]?.answer([], false);
    second.cancel();
    system.answer(['10.0.0.1']);

    expect(told).toMatchObject({ addresses: [], causes: [] });
    expect(queries[0]?.cancelled).toBe(true);
    expect(system.asked).toEqual(['zk2']);
  });

  it('looks up no name whose asker has gone while it waited for its turn', () => {
    const { system, queries, resolver } = setUp();
    const told = [new Told(), new Told(), new Told()] as const;
    resolver.resolve('dead', told[0]);
    const gone = resolver.resolve('zk2', told[1]);
    resolver.resolve('zk3', told[2]);
    for (const query of queries) query.answer([], false);
    gone.cancel();
    system.fail('timed out');

    expect(system.asked).toEqual(['dead', 'zk3']);
    system.answer(['10.0.0.3']);
    expect([told[1], told[2].addresses]).toMatchObject([{ addresses: [], causes: [] }, [['10.0.0.3']]]);
    expect(system.asked).toEqual(['dead', 'zk3']);
  });

  it('looks a name up that somebody still asks for, when another who did has gone', () => {
    const { system, queries, resolver } = setUp();
    const [left, stays] = [new Told(), new Told()];
    resolver.resolve('dead', new Told());
    const gone = resolver.resolve('zk2', left);
    resolver.resolve('zk2', stays);
    for (const query of queries) query.answer([], false);
    gone.cancel();
    system.fail('timed out');
    system.answer(['10.0.0.2']);

    expect(system.asked).toEqual(['dead', 'zk2']);
    expect([left.addresses, stays.addresses]).toEqual([[], [['10.0.0.2']]]);
  });

  it('shares a look-up under way with who asks next, although nobody waits for it any more', () => {
    const { system, queries, resolver } = setUp();
    const told = [new Told(), new Told()] as const;
    const gone = resolver.resolve('zk1', told[0]);
    queries[0]?.answer([], false);
    gone.cancel();
    resolver.resolve('zk1', told[1]);
    queries[1]?.answer([], false);
    system.answer(['10.0.0.1']);

    expect(system.asked).toEqual(['zk1']);
    expect([told[0].addresses, told[1].addresses]).toEqual([[], [['10.0.0.1']]]);
  });
});
