import { describe, expect, it } from '@jest/globals';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, set, sync } from '../../../lib/session/requests.js';
import type { ContractClient } from '../worlds/contract-client.js';
import type { HarmableWorld } from '../worlds/contract-world.js';

const DATA = Buffer.from('data');
const WITHIN_MS = 300;
/** Where the servers answer, which they may do late: an end that does not come before half of it is a breach. */
const AMPLE_MS = 5_000;

export function closesContract(world: () => HarmableWorld): void {
  async function closeTakes(client: ContractClient, withinMs = WITHIN_MS): Promise<number> {
    const calledAt = world().now();
    await world().settle(client.session.close(withinMs));
    return world().now() - calledAt;
  }

  async function expectTheEnd(client: ContractClient): Promise<void> {
    const { session, log } = client;
    expect(session.state).toBe('closed');
    expect(log.completed).toBe(true);
    expect(session.identity).toBeUndefined();
    expect([session.certainUntil(), session.certainSince()]).toEqual([-Infinity, Infinity]);
    expect(await client.failure(get('/'))).toMatchObject({ code: 'CLOSED' });
    expect(await client.askAll([get('/')])).toEqual([expect.objectContaining({ code: 'CLOSED' })]);
    expect(await client.failureOf(session.proveLife())).toMatchObject({ code: 'CLOSED' });
    const states: string[] = [];
    session.state$.subscribe((state) => states.push(state));
    expect(states).toEqual([]);
    expect(log.states.at(-1)).toBe('closed');
  }

  describe('its close', () => {
    it('ends ephemeral nodes and watches at once when connected, and is told', async () => {
      const [client, other] = await Promise.all([world().open(), world().open()]);
      await client.whenUp();
      await other.whenUp();
      await client.askAll([
        create('/mine', 'ephemeral'),
        create('/stays', 'persistent'),
        get('/stays', client.watcher()),
      ]);

      expect(await closeTakes(client, AMPLE_MS)).toBeLessThan(AMPLE_MS / 2 + world().slackMs);

      const [, mine, stays] = await other.askAll([sync('/'), exists('/mine'), exists('/stays')]);
      expect([mine === undefined, stays === undefined]).toEqual([true, false]);
      expect(await world().watchCount()).toBe(0);
      expect(client.sent('closeSession')).toHaveLength(1);
      await expectTheEnd(client);
    });

    it('settles what was asked before it, and refuses what is asked after', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));

      const before = client.session.batch([set('/node', DATA), get('/node')]);
      const closed = client.session.close(AMPLE_MS);
      const after = client.session.batch([set('/node', DATA)]);
      await world().settle(closed);

      expect(await world().settle(before)).toMatchObject([{ version: 1 }, { stat: { version: 1 } }]);
      expect(await world().settle(after)).toEqual([expect.objectContaining({ code: 'CLOSED' })]);
      expect(client.sent('set')).toHaveLength(1);
    });

    it('comes at once before there is a session, and no session comes afterwards', async () => {
      const client = await world().open();

      expect(await closeTakes(client, AMPLE_MS)).toBeLessThan(world().slackMs);
      await world().pass(WITHIN_MS);

      expect(client.log.states).toEqual(['connecting', 'closed']);
      await expectTheEnd(client);
    });

    it('succeeds while no server can be reached', async () => {
      const client = await world().open();
      await client.link.refuse();

      expect(await closeTakes(client)).toBeLessThan(WITHIN_MS + world().slackMs);

      await expectTheEnd(client);
    });

    it('comes within its time while suspended, and the nodes go with the session', async () => {
      const { shortTimeoutMs } = world();
      const [client, other] = await Promise.all([world().open({ sessionTimeoutMs: shortTimeoutMs }), world().open()]);
      await client.whenUp();
      await other.whenUp();
      await client.ask(create('/mine', 'ephemeral'));
      await client.link.refuse();
      await client.whenState('suspended');

      expect(await closeTakes(client)).toBeLessThan(WITHIN_MS + world().slackMs);

      expect(client.log.states).toEqual(['connecting', 'connected', 'suspended', 'closed']);
      await expectTheEnd(client);
      await world().until('the node is gone', async () => {
        const [, found] = await other.askAll([sync('/mine'), exists('/mine')]);
        return found === undefined;
      });
    });

    it('ends the session at the servers where the link comes back in time', async () => {
      const [client, other] = await Promise.all([world().open(), world().open()]);
      await client.whenUp();
      await other.whenUp();
      await client.ask(create('/mine', 'ephemeral'));
      // Refused, not only cut: the link must not come back before the close has begun.
      await client.link.refuse();
      await client.whenState('suspended');

      const closed = client.session.close(world().timeoutMs);
      await client.link.pass();
      await world().settle(closed);

      const [, found] = await other.askAll([sync('/mine'), exists('/mine')]);
      expect(found).toBeUndefined();
      expect(client.log.states).toEqual(['connecting', 'connected', 'suspended', 'closed']);
    });

    it('comes within its time while lost', async () => {
      const client = await (await world().open({ sessionTimeoutMs: world().shortTimeoutMs })).whenUp();
      await client.link.refuse();
      await client.whenState('lost');

      expect(await closeTakes(client)).toBeLessThan(WITHIN_MS + world().slackMs);

      expect(client.log.states).toEqual(['connecting', 'connected', 'suspended', 'lost', 'closed']);
      await expectTheEnd(client);
    });

    it('comes within its time over a link that swallows everything, and all calls settle', async () => {
      const client = await (await world().open()).whenUp();
      client.link.blackHole();
      const calls = client.session.batch([set('/node', DATA), get('/node')]);

      expect(await closeTakes(client)).toBeLessThan(WITHIN_MS + world().slackMs);

      const outcomes = await world().settle(calls);
      expect(outcomes.map((outcome) => (outcome instanceof SessionError ? outcome.code : 'answered'))).toEqual([
        'CLOSED',
        'CLOSED',
      ]);
      await expectTheEnd(client);
    });

    it('more than once comes to the same end, told once', async () => {
      const client = await (await world().open()).whenUp();

      await world().settle(Promise.all([client.session.close(), client.session.close(AMPLE_MS)]));
      await world().settle(client.session.close());

      expect(client.log.states).toEqual(['connecting', 'connected', 'closed']);
      expect(client.sent('closeSession')).toHaveLength(1);
    });
  });
}
