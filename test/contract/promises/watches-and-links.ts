import { describe, expect, it } from '@jest/globals';
import { create, exists, get, list, remove, set, sync } from '../../../lib/session/requests.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import type { ContractClient } from '../worlds/contract-client.js';
import type { HarmableWorld } from '../worlds/contract-world.js';
import { type Gaps, itUnless, NO_GAPS } from '../worlds/gaps.js';

const DATA = Buffer.from('data');
const THERE_BEFORE = ['/changed', '/deleted', '/box'].map((path) => create(path, 'persistent'));
const CHANGES = [
  set('/changed', DATA),
  remove('/deleted'),
  create('/created', 'persistent'),
  create('/box/child', 'persistent'),
];
const TOLD = ['changed /changed', 'children /box', 'created /created', 'deleted /deleted'];

export function watchesAndLinksContract(world: () => HarmableWorld, gaps: Gaps = NO_GAPS): void {
  async function twoClients(): Promise<[ContractClient, ContractClient]> {
    const [client, other] = await Promise.all([world().open(), world().open()]);
    await client.whenUp();
    await other.whenUp();
    return [client, other];
  }

  describe('a watch', () => {
    it('goes on after a reconnect inside the session: changed, deleted, created and children are told', async () => {
      const [client, other] = await twoClients();
      const watcher = client.watcher();
      await client.askAll(THERE_BEFORE);
      await client.askAll([
        get('/changed', watcher),
        exists('/deleted', watcher),
        exists('/created', watcher),
        list('/box', watcher),
      ]);

      await client.reconnect();
      await client.ask(sync('/'));
      expect(watcher.told).toEqual([]);
      await other.askAll(CHANGES);

      await world().until('all four are told', () => watcher.told.length >= 4);
      expect([...watcher.told].sort()).toEqual(TOLD);
    });

    itUnless(gaps, 'auth')(
      'is set again behind the credentials, as what they alone may read is not told to just anybody',
      async () => {
        const auth = [{ scheme: 'digest', credential: Buffer.from('reader:secret') }];
        const client = await world().open({ auth });
        await client.whenUp();
        await client.ask(create('/secret', 'persistent', DATA, [{ permissions: 31, scheme: 'auth', id: '' }]));
        await client.ask(get('/secret', client.watcher()));

        await client.reconnect();
        await client.ask(sync('/'));

        const ops = client.link.sent().map(({ op }) => op);
        const again = ops.slice(ops.lastIndexOf('handshake'));
        expect(again.slice(0, 3)).toEqual(['handshake', 'auth', 'setWatches']);
      },
    );

    it('tells what happened while the link was away', async () => {
      const [client, other] = await twoClients();
      const watcher = client.watcher();
      await client.askAll(THERE_BEFORE);
      await client.askAll([
        get('/changed', watcher),
        get('/deleted', watcher),
        exists('/created', watcher),
        list('/box', watcher),
        list('/deleted', watcher),
      ]);
      await client.link.refuse();
      await client.whenState('suspended');
      const { ups } = client.log;
      await other.askAll(CHANGES);
      expect(watcher.told).toEqual([]);

      await client.link.pass();
      await client.whenUpAgain(ups);

      await world().until('all four are told', () => watcher.told.length >= 4);
      await client.ask(sync('/'));
      expect([...watcher.told].sort()).toEqual(TOLD);
    });

    it('tells that its node was removed and made again before a create below the new one is answered', async () => {
      const [client, other] = await twoClients();
      const watcher = client.watcher();
      await client.askAll([create('/key', 'persistent'), get('/key', watcher)]);
      await other.askAll([sync('/key'), remove('/key'), create('/key', 'persistent')]);
      const child = create('/key/n-', 'ephemeral-sequential');
      const [path, told] = await world().settle(
        replyTo(client.session, child).then((created) => [created.path, [...watcher.told]] as const),
      );
      expect([path, told]).toEqual(['/key/n-0000000000', ['deleted /key']]);
    });

    it('tells the same where it happened while the link was away', async () => {
      const [client, other] = await twoClients();
      const watcher = client.watcher();
      await client.askAll([create('/key', 'persistent'), get('/key', watcher)]);
      await client.link.refuse();
      await client.whenState('suspended');
      const { ups } = client.log;
      await other.askAll([sync('/key'), remove('/key'), create('/key', 'persistent')]);
      expect(watcher.told).toEqual([]);

      await client.link.pass();
      await client.whenUpAgain(ups);
      const child = create('/key/n-', 'ephemeral-sequential');
      const [path, told] = await world().settle(
        replyTo(client.session, child).then((created) => [created.path, [...watcher.told]] as const),
      );
      expect([path, told]).toEqual(['/key/n-0000000000', ['changed /key']]);
    });

    it('is told after the link went down what was on its way to it', async () => {
      const [client, other] = await twoClients();
      const watcher = client.watcher();
      await client.askAll([create('/node', 'ephemeral'), exists('/node', watcher)]);
      client.link.blackHole('to-client');
      const [, removed] = await other.askAll([sync('/node'), remove('/node')]);
      expect(removed).toBeUndefined();
      expect(watcher.told).toEqual([]);
      const { ups } = client.log;

      client.link.cut();
      await client.link.pass();
      await client.whenUpAgain(ups);

      await world().until('the deletion is told', () => watcher.told.length > 0);
      expect(watcher.told).toEqual(['deleted /node']);
    });

    it('tells what happened while the link was away, also when it breaks again before all watches were set', async () => {
      const [client, other] = await twoClients();
      const watcher = client.watcher();
      // More than one frame can set again.
      const paths = Array.from({ length: 30 }, (_, index) => `/${'x'.repeat(5_000)}${index}`);
      const [first = '', last = ''] = [paths[0], paths.at(-1)];
      await client.askAll(paths.map((path) => create(path, 'persistent')));
      await client.askAll(paths.map((path) => get(path, watcher)));
      await client.link.refuse();
      await client.whenState('suspended');
      await other.askAll([set(first, DATA), set(last, DATA)]);

      client.link.losePartOfSetWatches();
      await client.link.pass();
      await world().until('the first is told', () => watcher.told.length > 0);
      // The answer to the frame comes right behind its events.
      await world().pass(world().slackMs);
      const { ups } = client.log;
      client.link.cut();
      await client.whenUpAgain(ups);

      await world().until('the last is told', () => watcher.told.length > 1);
      expect(watcher.told).toEqual([`changed ${first}`, `changed ${last}`]);
    });
  });
}
