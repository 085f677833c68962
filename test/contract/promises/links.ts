import { describe, expect, it } from '@jest/globals';
import { fencingToken } from '../../../lib/lock/token.js';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, list, multi, remove, set, sync } from '../../../lib/session/requests.js';
import type { HarmableWorld } from '../worlds/contract-world.js';
import { type Gaps, itUnless, NO_GAPS } from '../worlds/gaps.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const DATA = Buffer.from('data');

export function linksContract(world: () => HarmableWorld, gaps: Gaps = NO_GAPS): void {
  describe('a link that goes away', () => {
    it('comes back to the same session, with its nodes', async () => {
      const client = await (await world().open()).whenUp();
      const before = { ...client.identity };
      const { stat } = await client.ask(create('/mine', 'ephemeral'));

      await client.reconnect();

      expect(client.identity).toEqual(before);
      expect(await client.ask(exists('/mine'))).toEqual(stat);
      expect(client.log.states).toEqual(['connecting', 'connected', 'suspended', 'reconnected']);
    });

    it('is suspended as long as it is down, and whoever subscribes then is told so', async () => {
      const client = await (await world().open()).whenUp();
      await client.link.refuse();
      await client.whenState('suspended');

      const replayed: string[] = [];
      client.session.state$.subscribe((state) => replayed.push(state)).unsubscribe();

      expect(replayed).toEqual(['suspended']);
      expect(client.session.identity).toBeDefined();
    });

    it('lets requests made while it is down fail at once, and they are never sent', async () => {
      const client = await (await world().open()).whenUp();
      await client.link.refuse();
      await client.whenState('suspended');
      const { ups } = client.log;
      const askedAt = world().now();

      const single = await client.failure(create('/never', 'persistent'));
      const batch = await client.askAll([create('/never', 'persistent'), get('/never')]);

      expect(world().now() - askedAt).toBeLessThan(world().slackMs);
      expect(single).toMatchObject({ code: 'NOT_CONNECTED', outcomeUnknown: false });
      expect(batch).toEqual([
        expect.objectContaining({ code: 'NOT_CONNECTED' }),
        expect.objectContaining({ code: 'NOT_CONNECTED' }),
      ]);
      await client.link.pass();
      await client.whenUpAgain(ups);
      expect(await client.ask(exists('/never'))).toBeUndefined();
      expect(client.sent('create', '/never')).toHaveLength(0);
    });

    it('takes all outstanding calls with it, their outcome unknown', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      client.link.blackHole('to-client');

      const calls = client.session.batch([get('/node'), set('/node', DATA), create('/node/child', 'ephemeral')]);
      const single = replyTo(client.session, sync('/node')).catch((error: unknown) => error);
      client.link.cut();

      const outcomes = [...(await world().settle(calls)), await world().settle(single)];
      const codes = outcomes.map((outcome) => (outcome instanceof SessionError ? outcome.code : 'answered'));
      expect(codes).toEqual(['CONNECTION_LOSS', 'CONNECTION_LOSS', 'CONNECTION_LOSS', 'CONNECTION_LOSS']);
      expect(outcomes.filter((outcome) => outcome instanceof SessionError && !outcome.outcomeUnknown)).toEqual([]);
    });
  });

  describe('a lost reply', () => {
    it('leaves the node of a create, which is found again by its owner, with its token, and made only once', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/queue', 'container'));
      const { ups } = client.log;
      client.link.loseReplyOfNext('create');

      const error = await client.failure(create('/queue/_c_1-lock-', 'ephemeral-sequential', DATA));
      expect(error).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true, path: '/queue/_c_1-lock-' });

      await client.whenUpAgain(ups);
      const [, listed] = await client.askAll([sync('/queue'), list('/queue')]);
      expect(listed).toMatchObject({ children: ['_c_1-lock-0000000000'] });
      const stat = await client.ask(exists('/queue/_c_1-lock-0000000000'));
      expect(stat?.ephemeralOwner).toBe(client.identity.id);
      const next = await client.ask(create('/queue/_c_2-lock-', 'ephemeral-sequential'));
      expect(fencingToken(stat?.czxid ?? 0n)).toBeLessThan(fencingToken(next.stat.czxid));
      expect(client.sent('create', '/queue/_c_1-lock-')).toHaveLength(1);
    });

    it('lets what was answered before it in a batch count, and leaves what came behind it unknown', async () => {
      const client = await (await world().open()).whenUp();
      const { ups } = client.log;
      await client.ask(create('/node', 'persistent'));
      client.link.loseReplyOfNext('set');

      const [, written, removed] = await client.askAll([get('/node'), set('/node', DATA), remove('/node')]);
      await client.whenUpAgain(ups);

      expect(written).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
      expect(removed).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
      expect(client.sent('set', '/node')).toHaveLength(1);
      expect(client.sent('delete', '/node')).toHaveLength(1);
    });

    itUnless(gaps, 'multi')('of a multi means that all or nothing was done, once', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const { ups } = client.log;
      client.link.loseReplyOfNext('multi');

      const error = await client.failure(multi([set('/node', DATA), create('/made', 'ephemeral')]));
      await client.whenUpAgain(ups);

      expect(error).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
      const [node, made] = await client.askAll([get('/node'), exists('/made')]);
      expect(node).toMatchObject({ stat: { version: 1 } });
      expect(made).toMatchObject({ ephemeralOwner: client.identity.id });
      expect(client.sent('multi')).toHaveLength(1);
    });

    it('means that a delete was done, and is not done again to what came in its place', async () => {
      const [client, other] = await Promise.all([world().open(), world().open()]);
      await client.whenUp();
      await other.whenUp();
      await client.ask(create('/node', 'persistent'));
      const { ups } = client.log;
      client.link.loseReplyOfNext('delete');

      const error = await client.failure(remove('/node'));
      await other.askAll([sync('/node'), create('/node', 'persistent')]);
      await client.whenUpAgain(ups);

      expect(error).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
      const [, found] = await client.askAll([sync('/node'), exists('/node')]);
      expect(found).toMatchObject({ version: 0 });
      expect(client.sent('delete')).toHaveLength(1);
    });
  });
}
