import { describe, expect, it } from '@jest/globals';
import { SessionError } from '../../../lib/session/errors.js';
import { create, type CreateMode, exists, get, list, remove, sync } from '../../../lib/session/requests.js';
import type { ContractWorld } from '../worlds/contract-world.js';

const DATA = Buffer.from('who and when');
const ACL = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const MODES: readonly CreateMode[] = [
  'persistent',
  'persistent-sequential',
  'ephemeral',
  'ephemeral-sequential',
  'container',
];

export function createsContract(world: () => ContractWorld): void {
  describe('when it creates,', () => {
    it.each(MODES)('a node that is %s is answered with its stat, and is there with its data', async (mode) => {
      const client = await (await world().open()).whenUp();

      const created = await client.ask(create('/node', mode, DATA, ACL));

      expect(created.path).toMatch(mode.endsWith('sequential') ? /^\/node\d{10}$/ : /^\/node$/);
      expect(created.stat).toMatchObject({ version: 0, cversion: 0, dataLength: DATA.length, numChildren: 0 });
      expect(created.stat.mzxid).toBe(created.stat.czxid);
      const { data, stat } = await client.ask(get(created.path));
      expect(Buffer.from(data)).toEqual(DATA);
      expect(stat).toEqual(created.stat);
    });

    it('an ephemeral node belongs to the session that made it, any other to nobody', async () => {
      const client = await (await world().open()).whenUp();

      const made = await client.askAll(MODES.map((mode) => create(`/${mode}`, mode)));

      const owners = made.map((outcome) => (outcome instanceof SessionError ? outcome : outcome.stat.ephemeralOwner));
      expect(owners).toEqual([0n, 0n, client.identity.id, client.identity.id, 0n]);
      expect(client.identity.id).not.toBe(0n);
    });

    it('czxid rises with every create, whoever makes it', async () => {
      const [one, other] = await Promise.all([world().open(), world().open()]);
      await one.whenUp();
      await other.whenUp();

      const czxids: bigint[] = [];
      for (let turn = 0; turn < 6; turn += 1) {
        const { stat } = await (turn % 2 === 0 ? one : other).ask(create('/queue-', 'ephemeral-sequential'));
        czxids.push(stat.czxid);
      }

      expect([...new Set(czxids)].sort((a, b) => Number(a - b))).toEqual(czxids);
    });

    it('sequence numbers have ten digits and rise in the order of the creates, also in one batch', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/queue', 'persistent'));

      const made = await client.askAll([
        create('/queue/lock-', 'ephemeral-sequential'),
        create('/queue/other-', 'persistent-sequential'),
        create('/queue/', 'ephemeral-sequential'),
        create('/queue/lock-', 'ephemeral-sequential'),
      ]);

      expect(made.map((outcome) => (outcome instanceof SessionError ? outcome : outcome.path))).toEqual([
        '/queue/lock-0000000000',
        '/queue/other-0000000001',
        '/queue/0000000002',
        '/queue/lock-0000000003',
      ]);
    });

    it('a node made without data has none', async () => {
      const client = await (await world().open()).whenUp();

      const { stat } = await client.ask(create('/empty', 'persistent'));

      expect(stat.dataLength).toBe(0);
      expect((await client.ask(get('/empty'))).data).toHaveLength(0);
    });

    it('data of every byte value and of 900 000 bytes come back as they were', async () => {
      const client = await (await world().open()).whenUp();
      const data = Uint8Array.from({ length: 900_000 }, (_, index) => index % 256);

      await client.ask(create('/large', 'persistent', data));

      expect(Buffer.compare((await client.ask(get('/large'))).data, data)).toBe(0);
    });

    it('data that are a text are kept as UTF-8', async () => {
      const client = await (await world().open()).whenUp();
      const text = '{"label":"Größe 鍵 🔑"}';

      const { stat } = await client.ask(create('/text', 'persistent', text));

      expect(stat.dataLength).toBe(Buffer.byteLength(text));
      expect(Buffer.from((await client.ask(get('/text'))).data).toString()).toBe(text);
    });

    it('names may have accents, other scripts, spaces and percent signs', async () => {
      const client = await (await world().open()).whenUp();
      const names = ['é', '鍵', 'two words', '%2F', 'dot.dot', '...', 'x'.repeat(1_000)];

      await client.askAll([
        create('/names', 'persistent'),
        ...names.map((name) => create(`/names/${name}`, 'persistent')),
      ]);

      expect([...(await client.ask(list('/names'))).children].sort()).toEqual([...names].sort());
    });

    it('a container takes children, and a create below a missing parent says so', async () => {
      const client = await (await world().open()).whenUp();

      const [early, , late] = await client.askAll([
        create('/box/child', 'ephemeral'),
        create('/box', 'container'),
        create('/box/child', 'ephemeral'),
      ]);

      expect(early).toMatchObject({ code: 'NO_NODE', path: '/box/child' });
      expect(late).toMatchObject({ path: '/box/child' });
      expect(await client.ask(exists('/box'))).toMatchObject({ numChildren: 1, ephemeralOwner: 0n });
    });

    it('what one session made is seen by others, which may delete it', async () => {
      const [maker, other] = await Promise.all([world().open(), world().open()]);
      await maker.whenUp();
      await other.whenUp();
      const { stat } = await maker.ask(create('/mine', 'ephemeral', DATA));

      const [, seen, removed] = await other.askAll([{ op: 'sync', path: '/mine' }, exists('/mine'), remove('/mine')]);

      expect(seen).toEqual(stat);
      expect(removed).toBeUndefined();
      // On another server, which may not know of it yet.
      expect((await maker.askAll([sync('/mine'), exists('/mine')]))[1]).toBeUndefined();
    });
  });
}
