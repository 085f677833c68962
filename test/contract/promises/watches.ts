import { describe, expect, it } from '@jest/globals';
import { create, exists, get, list, remove, set, watchTree } from '../../../lib/session/requests.js';
import type { ContractWorld } from '../worlds/contract-world.js';

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

      const toldByThen = client.session.request(remove('/node')).then(() => [...watcher.told]);

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

    it('one watcher that asked twice is told once', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watcher = client.watcher();
      await client.askAll([get('/node', watcher), exists('/node', watcher), list('/node', watcher)]);

      await client.ask(remove('/node'));

      expect(watcher.told).toEqual(['deleted /node']);
    });

    it('a get or list of a missing node sets none', async () => {
      const client = await (await world().open()).whenUp();
      const watcher = client.watcher();
      await client.askAll([get('/missing', watcher), list('/missing', watcher)]);

      await client.askAll([create('/missing', 'persistent'), remove('/missing')]);
      await client.ask({ op: 'sync', path: '/' });

      expect(watcher.told).toEqual([]);
    });

    it('a watch that was taken back tells nothing, and the others on its path do', async () => {
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

    it('a watch taken back before its answer came tells nothing', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watcher = client.watcher();

      const asked = client.session.batch([get('/node', watcher), list('/node', watcher)]);
      client.session.unwatch('/node', watcher);
      await world().settle(asked);
      await client.askAll([create('/node/child', 'persistent'), set('/node', DATA)]);

      expect(watcher.told).toEqual([]);
    });

    it('a watch taken back and set again tells', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watcher = client.watcher();

      await client.ask(get('/node', watcher));
      client.session.unwatch('/node', watcher);
      await client.askAll([get('/node', watcher), set('/node', DATA)]);

      expect(watcher.told).toEqual(['changed /node']);
    });

    it('a tree watch tells of every change below its path, again and again, and of no other', async () => {
      const client = await (await world().open()).whenUp();
      await client.askAll([create('/tree', 'persistent'), create('/treehouse', 'persistent')]);
      const watcher = client.watcher();
      await client.ask(watchTree('/tree', watcher));

      await client.askAll([
        create('/tree/a', 'persistent'),
        create('/tree/a/b', 'ephemeral'),
        set('/tree/a/b', DATA),
        set('/tree/a/b', DATA),
        create('/treehouse/c', 'persistent'),
        remove('/tree/a/b'),
        set('/tree', DATA),
      ]);

      expect(watcher.told).toEqual([
        'created /tree/a',
        'created /tree/a/b',
        'changed /tree/a/b',
        'changed /tree/a/b',
        'deleted /tree/a/b',
        'changed /tree',
      ]);
    });

    it('a tree watch that was taken back tells no more', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/tree', 'persistent'));
      const watcher = client.watcher();
      await client.askAll([watchTree('/tree', watcher), create('/tree/a', 'persistent')]);

      client.session.unwatch('/tree', watcher);
      await client.ask(create('/tree/b', 'persistent'));

      expect(watcher.told).toEqual(['created /tree/a']);
    });

    it('a tree watch and another on one path exclude each other, since servers mix them up', async () => {
      const client = await (await world().open()).whenUp();
      await client.askAll([create('/one', 'persistent'), create('/other', 'persistent')]);
      const watcher = client.watcher();
      await client.askAll([watchTree('/one', watcher), get('/other', watcher)]);

      expect(await client.failure(list('/one', watcher))).toMatchObject({ code: 'BAD_ARGUMENTS', path: '/one' });
      expect(await client.failure(watchTree('/other', watcher))).toMatchObject({
        code: 'BAD_ARGUMENTS',
        path: '/other',
      });
    });

    it('close tells all of them "lost", once', async () => {
      const client = await (await world().open()).whenUp();
      await client.askAll([create('/node', 'persistent'), create('/tree', 'persistent')]);
      const watcher = client.watcher();
      await client.askAll([
        get('/node', watcher),
        exists('/missing', watcher),
        list('/node', watcher),
        watchTree('/tree', watcher),
      ]);

      await world().settle(client.session.close());

      expect([...watcher.told].sort()).toEqual(['lost /missing', 'lost /node', 'lost /tree']);
    });
  });
}
