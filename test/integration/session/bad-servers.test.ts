import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Server } from '../../../lib/session/core/link.js';
import { create } from '../../../lib/session/requests.js';
import type { NameResolver } from '../../../lib/session/wire/name-resolver.js';
import { eventually } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';
import { freePort } from '../../support/proxy/ports.js';
import { HeldResolver } from '../../support/sessions/held-resolver.js';
import {
  closeOpenSessions,
  IN_LISTED_ORDER,
  openWire,
  startFakeServer,
  untilState,
  untilUp,
  type FakeServer,
} from '../../support/sessions/wire-session.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { replyTo } from '../../support/sessions/reply-to.js';

/** Decides how long each server of a list is given: two thirds of it, shared out. */
const TIMEOUT_MS = 2_000;
const KINDS = ['refused', 'silent', 'frozen', 'unresolvable'] as const;
type Kind = (typeof KINDS)[number];

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}

/** Knows no name but those of addresses. */
const unknowing: NameResolver = { resolve: (host) => Promise.reject(new Error(`no such host: ${host}`)) };

describe('a list in which only the last server is good', () => {
  let good: StandaloneServer;
  let frozen: StandaloneServer;
  let silent: FakeServer;
  let bad: Record<Kind, Server>;

  beforeAll(async () => {
    [good, frozen] = await Promise.all([startZooKeeper({ tickTimeMs: 500 }), startZooKeeper({ tickTimeMs: 500 })]);
    await frozen.freeze();
    silent = await startFakeServer((socket) => socket.resume());
    const at = (port: number): Server => ({ host: '127.0.0.1', port });
    bad = {
      refused: at(await freePort()),
      silent: at(silent.port),
      frozen: at(frozen.port),
      unresolvable: { host: 'no-such-host.invalid', port: 2181 },
    };
  });
  afterEach(closeOpenSessions);
  afterAll(async () => {
    await silent[Symbol.asyncDispose]();
    await Promise.all([good.stop(), frozen.stop()]);
  });

  it.each(KINDS)('gets a session behind all others, in any order that begins with one that is %s', async (first) => {
    const orders = ordersOf(KINDS).filter(([kind]) => kind === first);
    await Promise.all(
      orders.map(async (order) => {
        const servers = [...order.map((kind) => bad[kind]), { host: '127.0.0.1', port: good.port }];
        const session = openWire(servers, {
          sessionTimeoutMs: TIMEOUT_MS,
          random: IN_LISTED_ORDER,
          dialer: { resolver: unknowing },
        });

        await untilUp(session);

        expect((await replyTo(session, create('/made-', 'ephemeral-sequential'))).path).toMatch(/^\/made-\d{10}$/);
        await session.close();
      }),
    );
  });

  it('says what is wrong with each, when none is good', async () => {
    const session = openWire(Object.values(bad), {
      sessionTimeoutMs: TIMEOUT_MS,
      random: IN_LISTED_ORDER,
      dialer: { resolver: unknowing },
    });
    const each = /refused.*; .*no answer.*; .*no answer.*; .*cannot be resolved/s;

    // A look-up that is still under way is told of, too: in other words, until it has failed.
    await eventually('all four have failed, and are told of', () => each.test(session.describeFailures()), {
      explain: () => session.describeFailures(),
    });

    await expect(untilUp(session, 50)).rejects.toThrow(session.describeFailures().slice(0, 40));
    await session.close();
  });

  it('is gone through although a name look-up never answers, which holds up nobody but its own turn, and close not at all', async () => {
    const hanging = new HeldResolver();
    const servers = [
      { host: 'hangs.invalid', port: 2181 },
      { host: '127.0.0.1', port: good.port },
    ];
    // So that the good one has the time for an answer, too: with a second round there would be a second look-up.
    const sessionTimeoutMs = 20_000;
    const session = openWire(servers, { sessionTimeoutMs, random: IN_LISTED_ORDER, dialer: { resolver: hanging } });

    await untilUp(session);
    expect([hanging.asked, hanging.cancelled]).toEqual([['hangs.invalid'], 1]);
    await session.close();

    const hopeless = openWire(servers.slice(0, 1), { dialer: { resolver: hanging } });
    using stalls = Stalls.watch();
    const calledAt = performance.now();
    await hopeless.close(500);
    expect(performance.now() - calledAt).toBeLessThan(250 + stalls.totalMs);
  });
});

describe('a name with several addresses', () => {
  afterEach(closeOpenSessions);

  it('is connected in one attempt, although only the last address that is tried is good', async () => {
    await using server = await startFakeServer((socket) => socket.resume());
    let dials = 0;
    // From a block kept for documentation: packets to it come back as unreachable, or never.
    const resolver: NameResolver = {
      resolve: () => {
        dials += 1;
        return Promise.resolve(['127.0.0.1', '192.0.2.1', '192.0.2.2']);
      },
    };
    // Half of three addresses: the second one is tried first.
    openWire([{ host: 'zk.invalid', port: server.port }], { dialer: { resolver, random: () => 0.5 } });

    await eventually('the server is connected', () => server.sockets.length > 0);
    expect(dials).toBe(1);
  });
});

describe('name servers that are away after the first connection', () => {
  it.each(['fail', 'are silent'])('are asked for the addresses that they had last, where they %s', async (how) => {
    const server = await startZooKeeper({ tickTimeMs: 500 });
    const held = new HeldResolver();
    const failing: NameResolver = { resolve: () => Promise.reject(new Error('EAI_AGAIN')) };
    let resolver: NameResolver = { resolve: () => Promise.resolve(['127.0.0.1']) };
    let asked = 0;
    const changing: NameResolver = {
      resolve(host, signal) {
        asked += 1;
        return resolver.resolve(host, signal);
      },
    };
    const session = openWire([{ host: 'zk.invalid', port: server.port }], { dialer: { resolver: changing } });
    await untilUp(session);
    resolver = how === 'fail' ? failing : held;
    const { identity } = session;
    await server.kill();
    await untilState(session, 'suspended');
    await server.start();

    // A server that is slow to start is met by an attempt that waits for the name servers, and that twice as long each time.
    await untilUp(session, 40_000);

    expect(session.identity).toBe(identity);
    expect(asked).toBeGreaterThan(1);
    await session.close();
    expect(held.cancelled).toBe(held.asked.length);
    await server.stop();
  });
});
