import { describe, expect, it } from '@jest/globals';
import { check, create, exists, get, list, multi, type MultiPart, remove, set } from '../../../lib/session/requests.js';
import type { WatchEvent } from '../../../lib/session/requests.js';
import type { ContractWorld } from '../worlds/contract-world.js';

const DATA = Buffer.from('data');
const READ_ONLY = [{ permissions: 1, scheme: 'world', id: 'anyone' }];

const CULPRITS: readonly (readonly [string, string, MultiPart])[] = [
  ['BAD_VERSION', '/there', check('/there', 5)],
  ['NO_NODE', '/missing', check('/missing')],
  ['NODE_EXISTS', '/there', create('/there', 'persistent')],
  ['NO_NODE', '/missing', remove('/missing')],
  ['BAD_VERSION', '/there', set('/there', DATA, 5)],
  ['NO_AUTH', '/guarded', set('/guarded', DATA)],
];

export function multisContract(world: () => ContractWorld): void {
  describe('a multi', () => {
    it('does all its parts in one transaction, each with its result', async () => {
      const client = await (await world().open()).whenUp();
      await client.askAll([create('/there', 'persistent'), create('/old', 'persistent')]);

      const results = await client.ask(
        multi([
          check('/there', 0),
          create('/parent', 'container'),
          create('/parent/child-', 'ephemeral-sequential', DATA),
          set('/there', DATA, 0),
          remove('/old'),
        ]),
      );

      expect(results.map(({ op }) => op)).toEqual(['check', 'create', 'create', 'set', 'delete']);
      const [, parent, child, written] = results;
      expect(parent).toMatchObject({ path: '/parent' });
      expect(child).toMatchObject({ path: '/parent/child-0000000000', stat: { ephemeralOwner: client.identity.id } });
      expect(written).toMatchObject({ stat: { version: 1, dataLength: DATA.length } });
      const czxids = [parent, child].map((result) => (result?.op === 'create' ? result.stat.czxid : undefined));
      expect(czxids[0]).toBe(czxids[1]);
      expect(await client.ask(exists('/old'))).toBeUndefined();
      expect((await client.ask(list('/parent'))).children).toEqual(['child-0000000000']);
    });

    it('tells of a node that it creates and removes, and in the order of its parts', async () => {
      const client = await (await world().open()).whenUp();
      const other = await (await world().open()).whenUp();
      await client.ask(create('/there', 'persistent'));
      const told: WatchEvent[] = [];
      const watcher = { onWatchEvent: (event: WatchEvent): void => void told.push(event) };
      await other.askAll([exists('/mark', watcher), get('/there', watcher)]);

      await client.ask(multi([create('/mark', 'persistent'), remove('/mark'), remove('/there')]));

      await world().until('both events have come', () => told.length === 2);
      expect(told).toEqual([
        { type: 'created', path: '/mark' },
        { type: 'deleted', path: '/there' },
      ]);
      expect(await other.ask(exists('/mark'))).toBeUndefined();
    });

    it.each(CULPRITS)('does none when a part fails, and names it: %s of %s', async (code, path, culprit) => {
      const client = await (await world().open()).whenUp();
      await client.askAll([create('/there', 'persistent'), create('/guarded', 'persistent', DATA, READ_ONLY)]);

      const error = await client.failure(
        multi([create('/first', 'persistent'), set('/there', DATA), culprit, create('/last', 'persistent')]),
      );

      expect(error).toMatchObject({ code, path, outcomeUnknown: false });
      expect(await client.ask(exists('/first'))).toBeUndefined();
      expect(await client.ask(exists('/last'))).toBeUndefined();
      expect((await client.ask(get('/there'))).stat.version).toBe(0);
    });

    it('is refused before anything is sent where a part has an impossible path', async () => {
      const client = await (await world().open()).whenUp();

      const error = await client.failure(multi([create('/first', 'persistent'), remove('/a//b')]));

      expect(error).toMatchObject({ code: 'BAD_ARGUMENTS', path: '/a//b' });
      expect(client.sent('multi')).toHaveLength(0);
    });
  });
}
