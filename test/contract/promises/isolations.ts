import { describe, expect, it } from '@jest/globals';
import { create, exists, get, sync } from '../../../lib/session/requests.js';
import type { ContractClient } from '../worlds/contract-client.js';
import type { HarmableWorld } from '../worlds/contract-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';

/** Only where there is more than one server. */
export function isolationsContract(world: () => HarmableWorld): void {
  async function holderAt(server: number, path: string): Promise<ContractClient> {
    const client = await (await world().open({ only: [server], sessionTimeoutMs: world().shortTimeoutMs })).whenUp();
    await client.ask(create(path, 'ephemeral'));
    return client;
  }

  describe('on a server cut off together with its clients,', () => {
    it.each(['follower', 'leader'] as const)(
      'the %s, certainty has passed before the others see the node vanish',
      async (role) => {
        const { leader, followers } = await world().roles();
        const [cutOff, elsewhere] = role === 'leader' ? [leader, followers[0]] : [followers[0], followers[1]];
        if (cutOff === undefined || elsewhere === undefined) throw new Error('This takes three servers.');
        const [reader, writer] = [await holderAt(cutOff, '/reader'), await holderAt(cutOff, '/writer')];
        writer.session.keepCertain();
        const other = await (await world().open({ only: [elsewhere] })).whenUp();
        const watchers = [other.watcher(), other.watcher()] as const;
        await world().pass(world().shortTimeoutMs);
        await world().settle(reader.session.proveLife());
        await other.askAll([sync('/'), exists('/reader', watchers[0]), exists('/writer', watchers[1])]);

        world().isolate(cutOff, [reader, writer]);
        const cutAt = world().now();
        expect([reader.isCertain, writer.isCertain]).toEqual([true, true]);
        await world().until('both nodes are gone for the others', () => {
          // Answers that prove nothing, as long as there are any.
          replyTo(reader.session, get('/reader')).catch(() => undefined);
          return watchers.every(({ told }) => told.length > 0);
        });

        expect(watchers.map(({ told }) => told)).toEqual([['deleted /reader'], ['deleted /writer']]);
        expect(watchers[0].toldAt[0]).toBeGreaterThan(reader.session.certainUntil());
        expect(watchers[1].toldAt[0]).toBeGreaterThan(writer.session.certainUntil());
        expect(reader.session.certainUntil()).toBeLessThan(cutAt + world().shortTimeoutMs);
        // It still believes in the session: who trusts the connection would go on. A stall takes of its time to believe.
        if (role === 'follower' && world().stalledMs < world().tickMs) {
          expect(await reader.ask(get('/reader'))).toMatchObject({ stat: { ephemeralOwner: reader.identity.id } });
          expect(reader.log.states).toEqual(['connecting', 'connected']);
        }
        await world().heal();
        for (const client of [reader, writer]) {
          await world().until('the loss is told, and there is a new session', () => {
            return client.log.states.includes('lost') && client.isUp;
          });
          const [, found] = await client.askAll([sync('/'), exists('/reader')]);
          expect(found).toBeUndefined();
        }
      },
      45_000,
    );
  });
}
