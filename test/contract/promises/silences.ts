import { describe, expect, it } from '@jest/globals';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, set, sync } from '../../../lib/session/requests.js';
import type { HarmableWorld } from '../worlds/contract-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const DIRECTIONS = [undefined, 'to-server', 'to-client'] as const;

export function silencesContract(world: () => HarmableWorld): void {
  describe('a link that is silent', () => {
    it.each(DIRECTIONS)(
      'is given up after two thirds of S, and certainty ends before the node does (%p)',
      async (direction) => {
        const { shortTimeoutMs: timeoutMs } = world();
        const [client, other] = await Promise.all([world().open({ sessionTimeoutMs: timeoutMs }), world().open()]);
        await client.whenUp();
        await other.whenUp();
        const before = { ...client.identity };
        const watcher = other.watcher();
        await client.askAll([create('/mine', 'ephemeral'), create('/data', 'persistent')]);
        client.session.keepCertain();
        await other.askAll([sync('/mine'), exists('/mine', watcher)]);
        // For long enough that life has been proved again.
        await world().pass(timeoutMs / 2);

        client.link.blackHole(direction);
        const silentAt = world().now();
        const calls = client.session.batch([
          get('/data'),
          set('/data', Buffer.from('x')),
          create('/more', 'ephemeral'),
        ]);
        await client.whenState('suspended');
        const outcomes = await world().settle(calls);
        await client.whenState('lost');
        const certainUntil = client.session.certainUntil();
        // Where only answers get lost, the servers hear of it at each attempt to come back.
        await client.link.refuse();
        await world().until('the node is gone', () => watcher.told.length > 0);

        const suspendedAt = client.log.first('suspended')?.at ?? Infinity;
        // A timer that fires late earns the link another third of S: where time is real, any timer may be late.
        const longestMs = world().isExact ? (timeoutMs * 2) / 3 : timeoutMs;
        expect(suspendedAt - silentAt).toBeLessThanOrEqual(longestMs + world().slackMs);
        // A timer may fire a little early, the last byte may have come a while before; not by more than a ping.
        expect(suspendedAt - silentAt).toBeGreaterThan(timeoutMs / 6);
        const codes = outcomes.map((outcome) => (outcome instanceof SessionError ? outcome.code : 'answered'));
        expect(new Set(codes)).toEqual(new Set(['CONNECTION_LOSS']));
        expect(certainUntil).toBeLessThan(watcher.toldAt[0] ?? -Infinity);
        expect(client.isCertain).toBe(false);

        const from = client.log.changes.length;
        await client.link.pass();
        await world().until('a new session is up', () => client.isUp && client.identity.id !== before.id);
        expect(client.log.changes.slice(from).map(({ state }) => state)).toEqual(['reconnected']);
        expect(client.sent('set', '/data').length).toBeLessThanOrEqual(1);
      },
    );

    it('costs nothing for less than that', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/mine', 'ephemeral'));
      client.link.blackHole('to-client');
      const answer = replyTo(client.session, get('/mine')).catch((error: unknown) => error);
      await world().pass(world().timeoutMs / 4);

      await client.link.pass();
      await world().settle(answer);
      await world().until('the link is up', () => client.isUp);

      expect(await client.ask(exists('/mine'))).toMatchObject({ ephemeralOwner: client.identity.id });
    });
  });
}
