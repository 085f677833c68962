import { describe, expect, it } from '@jest/globals';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, list, set, sync } from '../../../lib/session/requests.js';
import type { ContractClient } from '../worlds/contract-client.js';
import type { HarmableWorld } from '../worlds/contract-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const DATA = Buffer.from('data');

/** Waits for another session than this one. */
async function whenReplaced(client: ContractClient, id: bigint): Promise<void> {
  await client.world.until('there is a new session', () => client.isUp && client.identity.id !== id);
}

export function lossesContract(world: () => HarmableWorld): void {
  const open = (): Promise<ContractClient> => world().open({ sessionTimeoutMs: world().shortTimeoutMs });

  describe('a session that the servers ended', () => {
    it('is told: lost, no identity, no certainty; then a new one, certain from its own beginning', async () => {
      const client = await (await open()).whenUp();
      const { id } = client.identity;
      const { stat } = await client.ask(create('/mine', 'ephemeral'));
      const since = client.session.certainSince();

      await world().expire(client);
      await whenReplaced(client, id);

      const lost = client.log.changes.filter(({ state }) => state === 'lost').at(-1);
      expect(client.log.states).toEqual(['connecting', 'connected', 'suspended', 'lost', 'reconnected']);
      expect(lost?.at).toBeGreaterThan(since);
      expect(client.session.certainSince()).toBeGreaterThan(since);
      expect(client.isCertain).toBe(true);
      expect(await client.ask(exists('/mine'))).toBeUndefined();
      expect((await client.ask(create('/mine', 'ephemeral'))).stat.czxid).toBeGreaterThan(stat.czxid);
    });

    it('leaves nothing certain, and nobody connected, before the next one', async () => {
      const client = await (await open()).whenUp();
      const { id } = client.identity;
      const seen: unknown[] = [];
      const watcher = {
        onWatchEvent: ({ type }: { type: string }) => {
          const { session } = client;
          const connected = replyTo(session, get('/')).catch((error: unknown) => (error as SessionError).code);
          seen.push(type, session.identity, session.certainUntil(), session.certainSince(), connected);
        },
      };
      await client.ask(exists('/any', watcher));

      await world().expire(client);
      await whenReplaced(client, id);

      expect(seen.slice(0, 4)).toEqual(['lost', undefined, -Infinity, Infinity]);
      expect(await seen[4]).toBe('NOT_CONNECTED');
    });

    it('takes all its watches with it, each told so once', async () => {
      const client = await (await open()).whenUp();
      const { id } = client.identity;
      const watcher = client.watcher();
      await client.askAll([create('/node', 'persistent')]);
      await client.askAll([get('/node', watcher), list('/node', watcher), exists('/missing', watcher)]);

      await world().expire(client);
      await whenReplaced(client, id);
      await client.askAll([set('/node', DATA), create('/missing', 'persistent')]);

      expect([...watcher.told].sort()).toEqual(['lost /missing', 'lost /node']);
    });

    it('leaves no call open', async () => {
      const client = await (await open()).whenUp();
      const { id } = client.identity;
      await client.ask(create('/node', 'persistent'));
      client.link.blackHole('to-client');
      const calls = client.session.batch([get('/node'), set('/node', DATA), sync('/node')]);
      await world().until('they are sent', () => client.sent('sync').length > 0);

      await world().expire(client);
      const outcomes = await world().settle(calls);
      await client.link.pass();
      await whenReplaced(client, id);

      const codes = outcomes.map((outcome) => (outcome instanceof SessionError ? outcome.code : 'answered'));
      expect(new Set(codes)).toEqual(new Set(['CONNECTION_LOSS']));
      expect(client.sent('set', '/node')).toHaveLength(1);
    });

    it('is believed to be ended when a server says so, also where that is not true', async () => {
      const [client, other] = await Promise.all([open(), world().open()]);
      await client.whenUp();
      await other.whenUp();
      const { id } = client.identity;
      const watcher = client.watcher();
      await client.askAll([create('/mine', 'ephemeral'), get('/mine', watcher)]);
      client.link.lieAboutExpiry();

      client.link.cut();
      await whenReplaced(client, id);

      expect(watcher.told).toEqual(['lost /mine']);
      expect(client.log.states).toEqual(['connecting', 'connected', 'suspended', 'lost', 'reconnected']);
      const [, left] = await other.askAll([sync('/mine'), exists('/mine')]);
      expect(left).toMatchObject({ ephemeralOwner: id });
      await world().until(
        'the old session has ended by time-out',
        async () => (await other.ask(exists('/mine'))) === undefined,
      );
    });
  });

  describe('servers', () => {
    it('take certainty away, and leave the session, when they have no majority for three session time-outs', async () => {
      const client = await (await open()).whenUp();
      const before = { ...client.identity };
      const { stat } = await client.ask(create('/mine', 'ephemeral'));
      client.session.keepCertain();
      const since = client.session.certainSince();

      await world().dropQuorum();
      await client.whenState('lost');
      expect(client.isCertain).toBe(false);
      await world().pass(2 * world().shortTimeoutMs);
      expect(client.isCertain).toBe(false);
      const { ups } = client.log;
      await world().restoreQuorum();
      await client.whenUpAgain(ups);

      expect(client.identity).toEqual(before);
      // A server may take a while to notice that it is alone, and let the client in until then.
      expect(client.log.states.slice(-2)).toEqual(['lost', 'reconnected']);
      expect(await client.ask(exists('/mine'))).toEqual(stat);
      await world().until('it is certain again', () => client.isCertain);
      expect(client.session.certainSince()).toBeGreaterThan(since + 3 * world().shortTimeoutMs);
    });

    it('grant a new session, when they lost all data, once the old one has been out of touch for its time-out', async () => {
      const client = await (await open()).whenUp();
      const { id } = client.identity;
      for (let index = 0; index < 20; index += 1) await client.ask(create('/much-', 'persistent-sequential'));
      await client.ask(create('/lock', 'ephemeral'));

      await world().wipe();
      await whenReplaced(client, id);

      expect(client.log.states).toEqual(['connecting', 'connected', 'suspended', 'lost', 'reconnected']);
      expect(client.isCertain).toBe(true);
      expect(await client.ask(create('/lock', 'ephemeral'))).toMatchObject({
        stat: { ephemeralOwner: client.identity.id },
      });
    });
  });
}
