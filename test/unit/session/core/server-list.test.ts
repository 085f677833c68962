import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ServerList } from '../../../../lib/session/core/server-list.js';

const SERVERS = ['a', 'b', 'c', 'd'].map((host) => ({ host, port: 2181 }));
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function round(list: ServerList): string[] {
  const hosts: string[] = [];
  for (let server = list.next(); server !== undefined; server = list.next()) hosts.push(server.host);
  return hosts;
}

/** Answers with these numbers, over and over. */
function sequence(numbers: readonly number[]): () => number {
  let index = 0;
  return () => numbers[index++ % numbers.length]!;
}

describe('The order of servers', () => {
  it('has every server once in each round, whatever the dice say', () => {
    fc.assert(
      fc.property(fc.array(random, { minLength: 1 }), (numbers) => {
        const list = new ServerList(SERVERS, sequence(numbers));
        list.restart();
        for (let rounds = 0; rounds < 3; rounds += 1) {
          expect(round(list).sort()).toEqual(['a', 'b', 'c', 'd']);
          list.endRound();
        }
      }),
    );
  });

  it('puts the server that was in use last, so that one that has just failed us is not the first to be asked', () => {
    fc.assert(
      fc.property(fc.array(random, { minLength: 1 }), fc.constantFrom(...SERVERS), (numbers, last) => {
        const list = new ServerList(SERVERS, sequence(numbers));
        list.restart(last);
        expect(round(list).at(-1)).toBe(last.host);
      }),
    );
  });

  it('lets each server be the first for a part of a fleet', () => {
    const firsts = new Set<string>();
    for (let client = 0; client < 64; client += 1) {
      const list = new ServerList(
        SERVERS,
        sequence([client / 64, ((client * 7) % 64) / 64, ((client * 13) % 64) / 64]),
      );
      list.restart();
      firsts.add(list.next()!.host);
    }
    expect([...firsts].sort()).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('The time of an attempt at one server', () => {
  const [a, b] = [SERVERS[0]!, SERVERS[1]!];
  const three = (): ServerList => {
    const list = new ServerList(SERVERS.slice(0, 3), () => 0);
    list.restart();
    return list;
  };

  it('gives all servers of the first round a third of S together', () => {
    expect(three().attemptMs(a, 9_000)).toBe(1_000);
  });

  it('doubles for a server whose own attempt ran out of it, and for no other', () => {
    const list = three();
    list.wasSilent(a, 1_000);
    expect([list.attemptMs(a, 9_000), list.attemptMs(b, 9_000)]).toEqual([2_000, 1_000]);
    list.wasSilent(a, 2_000);
    expect([list.attemptMs(a, 9_000), list.attemptMs(b, 9_000)]).toEqual([4_000, 1_000]);
    list.restart();
    expect(list.attemptMs(a, 9_000)).toBe(1_000);
  });

  it('does not grow with rounds of refusals: they tell nothing of how slow a server is', () => {
    const list = three();
    for (let rounds = 0; rounds < 10; rounds += 1) list.endRound();
    expect(list.attemptMs(a, 9_000)).toBe(1_000);
  });

  it('takes at most a third of the certainty that is left while something is held, however slow the server was', () => {
    const list = three();
    list.wasSilent(a, 4_000);
    expect(list.attemptMs(a, 9_000, 6_000)).toBe(2_000);
    expect(list.attemptMs(b, 9_000, 2_400)).toBe(800);
    expect(list.attemptMs(b, 9_000, 6_000)).toBe(1_000);
    // What is lost anyway is no reason for haste.
    expect(list.attemptMs(a, 9_000, 0)).toBe(8_000);
    expect(list.attemptMs(a, 9_000, -Infinity)).toBe(8_000);
  });

  it('leaves half of what is certain after an offer for the write behind the answer, or for another server', () => {
    expect([800, 100, 0, -Infinity].map((certainMs) => three().offerMs(certainMs))).toEqual([
      400,
      250,
      Infinity,
      Infinity,
    ]);
  });

  it('forgets nothing of a slow server for an attempt that had to be short', () => {
    const list = three();
    list.wasSilent(a, 4_000);
    list.wasSilent(a, 300);
    expect(list.attemptMs(a, 9_000)).toBe(8_000);
  });

  it('is never above S and never below a quarter of a second, however long the search', () => {
    const list = new ServerList(SERVERS, () => 0);
    list.restart();
    expect(list.attemptMs(a, 300)).toBe(250);
    expect(list.attemptMs(a, 300, 1)).toBe(250);
    for (let times = 0; times < 2_000; times += 1) list.wasSilent(a, list.attemptMs(a, 9_000));
    expect(list.attemptMs(a, 9_000)).toBe(9_000);
    expect(list.attemptMs(a, 100)).toBe(250);
  });
});

describe('The pauses', () => {
  it('double from 50 ms to a second between rounds, jittered between half and whole', () => {
    for (const dice of [0, 0.5, 0.999]) {
      const list = new ServerList(SERVERS, () => dice);
      list.restart();
      for (let rounds = 0; rounds < 2_000; rounds += 1) {
        const fullMs = Math.min(1_000, 50 * 2 ** rounds);
        const pauseMs = list.endRound();
        expect(pauseMs).toBeGreaterThanOrEqual(fullMs / 2);
        expect(pauseMs).toBeLessThanOrEqual(fullMs);
        expect(pauseMs).toBeCloseTo(fullMs * (0.5 + dice / 2), 6);
      }
    }
  });

  it('are a tenth of what is certain at most between rounds, where something is held, and 50 ms at the least', () => {
    const list = new ServerList(SERVERS, () => 0.999_999);
    for (let rounds = 0; rounds < 10; rounds += 1) list.endRound();
    expect(list.endRound(4_000)).toBeCloseTo(400, 0);
    expect(list.endRound(100)).toBeCloseTo(50, 0);
    expect(list.endRound(-4_000)).toBeCloseTo(1_000, 0);
    expect(list.endRound(60_000)).toBeCloseTo(1_000, 0);
  });

  it('spread a fleet over 50 ms before the first attempt', () => {
    expect(new ServerList(SERVERS, () => 0).firstPauseMs(60_000)).toBe(0);
    expect(new ServerList(SERVERS, () => 0.5).firstPauseMs(60_000)).toBe(25);
  });

  it('grow while servers take us and hang up at once, so that nobody is hammered', () => {
    const list = new ServerList(SERVERS, () => 0.5);
    const pausesMs = [10, 10, 10, 10, 10, 10].map((livedMs) => list.firstPauseMs(livedMs));
    expect(pausesMs).toEqual([25, 50, 100, 125, 125, 125]);
    expect(list.firstPauseMs(5_000)).toBe(25);
  });
});

describe('What is told of failures', () => {
  it('names each server with its last reason, until one succeeds', () => {
    const list = new ServerList(SERVERS, () => 0);
    list.restart();
    list.failed(SERVERS[0]!, new Error('refused'), 0);
    list.failed(SERVERS[1]!, new Error('silent'), 0);
    list.failed(SERVERS[0]!, new Error('unresolvable'), 0);
    expect(list.describeFailures()).toBe('a:2181: unresolvable; b:2181: silent');
    list.restart(SERVERS[2]);
    expect(list.describeFailures()).toBe('');
  });

  it('tells of the attempt under way where nothing else is known of the server', () => {
    const list = new ServerList(SERVERS, () => 0);
    list.restart();
    const underWay = { server: SERVERS[0]!, reason: 'connected, no answer within 900 ms' };
    expect(list.describeFailures(underWay)).toBe('a:2181: connected, no answer within 900 ms');
    list.failed(SERVERS[0]!, new Error('refused'), 0);
    expect(list.describeFailures(underWay)).toBe('a:2181: refused');
  });

  it('says the name of a server once', () => {
    const servers = [SERVERS[0]!, { host: '::1', port: 2181 }];
    const list = new ServerList(servers, () => 0);
    list.restart();
    list.failed(servers[0]!, new Error('a:2181 (10.0.0.1) refused the connection (ECONNREFUSED)'), 0);
    list.failed(servers[1]!, new Error('[::1]:2181 refused the connection (ECONNREFUSED)'), 0);
    expect(list.describeFailures()).toBe(
      'a:2181 (10.0.0.1) refused the connection (ECONNREFUSED); [::1]:2181 refused the connection (ECONNREFUSED)',
    );
  });
});
