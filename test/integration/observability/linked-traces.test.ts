import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { get } from '../../../lib/session/requests.js';
import { TICK_MS } from '../../support/locks/times.js';
import { eventually } from '../../support/process/eventually.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { openWire, untilUp } from '../../support/sessions/wire-session.js';
import type { Order, Span } from '../../support/traces/tracing-process.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const SCRIPT = new URL('../../support/traces/tracing-process.ts', import.meta.url);

describe('A trace of a call that waited', () => {
  let server: StandaloneServer;
  let operator: SessionClient;
  let holder: NodeChild;
  let waiter: NodeChild;

  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: TICK_MS });
    const start = (): Promise<NodeChild> => startNodeChild(SCRIPT, { args: [server.connect] });
    [holder, waiter] = await Promise.all([start(), start()]);
    for (const child of [holder, waiter]) await child.next('ready', ofType('ready'));
    operator = openWire([server.port], { sessionTimeoutMs: 10_000 });
    await untilUp(operator);
  }, 60_000);
  afterEach(async () => {
    for (const child of [holder, waiter]) {
      await tell(child, { do: 'release' });
      await tell(child, { do: 'forget spans' });
    }
  });
  afterAll(async () => {
    await operator?.close();
    await holder?.kill();
    await waiter?.kill();
    await server?.stop();
  });

  async function tell(child: NodeChild, order: Order): Promise<readonly Span[]> {
    child.send(order);
    const { spans } = await child.next('answer', ofType('answer'));
    return spans as readonly Span[];
  }

  /** Spans are made a moment after what they tell of. */
  const spanOf = (child: NodeChild, name: string): Promise<Span> =>
    eventually(`the span ${name}`, async () =>
      (await tell(child, { do: 'tell spans' })).find((one) => one.name === name),
    );

  it('leads to the span in which another process held the lock', async () => {
    const { nodePath } = await acquired({ do: 'acquire', key: '/locks/1', within: 'POST /orders/:id' });
    const { data } = await replyTo(operator, get(nodePath));
    waiter.send({ do: 'acquire', key: '/locks/1', within: 'job' } satisfies Order);
    await waiter.next('waits', ofType('waits'));
    await tell(holder, { do: 'release' });
    await waiter.next('answer', ofType('answer'));

    const work = await spanOf(holder, 'POST /orders/:id');
    const { links, traceId } = await spanOf(waiter, 'acquire /locks/:id');
    expect(links).toEqual([{ traceId: work.traceId, spanId: work.spanId }]);
    expect(traceId).not.toBe(work.traceId);
    expect((await spanOf(holder, 'acquire /locks/:id')).links).toEqual([]);
    // What is written for that is the name of the span, and nothing else.
    expect(JSON.parse(Buffer.from(data).toString())).toMatchObject({
      traceparent: `00-${work.traceId}-${work.spanId}-01`,
    });
  });

  it('leads from a call that was made in no span, and whose time was up, to the span of the holder', async () => {
    await acquired({ do: 'acquire', key: '/locks/2', within: 'POST /orders/:id' });
    await tell(waiter, { do: 'acquire', key: '/locks/2', waitMs: 500 });
    const { traceId, spanId } = await spanOf(holder, 'POST /orders/:id');
    expect((await spanOf(waiter, 'acquire /locks/:id')).links).toEqual([{ traceId, spanId }]);
  });

  async function acquired(order: Order): Promise<{ readonly nodePath: string }> {
    holder.send(order);
    const { nodePath } = await holder.next('answer', ofType('answer'));
    return { nodePath: nodePath as string };
  }
});
