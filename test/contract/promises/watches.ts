import { describe, expect, it } from '@jest/globals';
import { create, exists, get, list, remove, set } from '../../../lib/session/requests.js';
import type { ContractWorld } from '../worlds/contract-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const DATA = Buffer.from('data');

export function watchesContract(world: () => ContractWorld): void {
  describe('watches', () => {
    it('tell once what happened: changed, deleted, created, children', async () => {
      const [client, other] = await Promise.all([world().open(), world().open()]);
      await client.whenUp();
      await other.whenUp();
      await client.askAll([
        create('/changed', 'persistent'),
        create('/deleted', 'persistent'),
        create('/box', 'container'),
      ]);
      const watcher = client.watcher();
      await client.askAll([
        get('/changed', watcher),
        exists('/deleted', watcher),
        exists('/created', watcher),
        list('/box', watcher),
      ]);

      for (let round = 0; round < 2; round += 1) await other.ask(set('/changed', DATA));
      await other.ask(remove('/deleted'));
      await other.askAll([create('/created', 'persistent'), remove('/created')]);
      for (const child of ['one', 'two']) await other.ask(create(`/box/${child}`, 'ephemeral'));
      await world().until('all watches were told', () => watcher.told.length >= 4);
      // Behind a sync all of the above has been told, had there been watches for it.
      await client.ask({ op: 'sync', path: '/' });

      expect(watcher.told).toEqual(['changed /changed', 'deleted /deleted', 'created /created', 'children /box']);
    });

    it('tell of what the session does itself, before the answer to it', async () => {
      const client = await (await world().open()).whenUp();
      const watcher = client.watcher();
      await client.askAll([create('/node', 'persistent'), get('/node', watcher)]);

      const toldByThen = replyTo(client.session, remove('/node')).then(() => [...watcher.told]);

      expect(await world().settle(toldByThen)).toEqual(['deleted /node']);
    });

    it('tell everybody who watches the same path, by whatever request', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watchers = [client.watcher(), client.watcher(), client.watcher()] as const;
      await client.askAll([get('/node', watchers[0]), exists('/node', watchers[1]), list('/node', watchers[2])]);

      await client.ask(remove('/node'));

      expect(watchers.map(({ told }) => told)).toEqual([['deleted /node'], ['deleted /node'], ['deleted /node']]);
    });

    it('tell one watcher that asked twice once', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watcher = client.watcher();
      await client.askAll([get('/node', watcher), exists('/node', watcher), list('/node', watcher)]);

      await client.ask(remove('/node'));

      expect(watcher.told).toEqual(['deleted /node']);
    });

    it('are not set by a get or list of a missing node', async () => {
      const client = await (await world().open()).whenUp();
      const watcher = client.watcher();
      await client.askAll([get('/missing', watcher), list('/missing', watcher)]);

      await client.askAll([create('/missing', 'persistent'), remove('/missing')]);
      await client.ask({ op: 'sync', path: '/' });

      expect(watcher.told).toEqual([]);
    });

    it('tell nothing once they were taken back, and the others on their path do', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const [leaving, staying] = [client.watcher(), client.watcher()];
      await client.askAll([
        get('/node', leaving),
        get('/node', staying),
        list('/node', leaving),
        list('/node', staying),
      ]);

      client.session.unwatch('/node', leaving);
      await client.askAll([set('/node', DATA), create('/node/child', 'persistent')]);

      expect(leaving.told).toEqual([]);
      expect(staying.told).toEqual(['changed /node', 'children /node']);
    });

    it('tell nothing if they were taken back before their answer came', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watcher = client.watcher();

      const asked = client.session.batch([get('/node', watcher), list('/node', watcher)]);
      client.session.unwatch('/node', watcher);
      await world().settle(asked);
      await client.askAll([create('/node/child', 'persistent'), set('/node', DATA)]);

      expect(watcher.told).toEqual([]);
    });

    it('tell again if they were taken back and set again', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watcher = client.watcher();

      await client.ask(get('/node', watcher));
      client.session.unwatch('/node', watcher);
      await client.askAll([get('/node', watcher), set('/node', DATA)]);

      expect(watcher.told).toEqual(['changed /node']);
    });

    it('are all told "lost", once, by close', async () => {
      const client = await (await world().open()).whenUp();
      await client.askAll([create('/node', 'persistent')]);
      const watcher = client.watcher();
      await client.askAll([get('/node', watcher), exists('/missing', watcher), list('/node', watcher)]);

      await world().settle(client.session.close());

      expect([...watcher.told].sort()).toEqual(['lost /missing', 'lost /node']);
    });
  });
}
