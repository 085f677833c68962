import { describe, expect, it } from '@jest/globals';
import { create, get, list, remove } from '../../../lib/session/requests.js';
import type { ContractClient } from '../worlds/contract-client.js';
import type { ContractWorld } from '../worlds/contract-world.js';

const NAME_LENGTH = 8_000;
const NAMES_IN_A_BATCH = 100;
/** More than four megabytes. */
const NAMES = 600;

function nameOf(index: number): string {
  return String(index).padStart(NAME_LENGTH, 'x');
}

function parts<R extends ReturnType<typeof create> | ReturnType<typeof remove>>(of: (path: string) => R): R[][] {
  return Array.from({ length: NAMES / NAMES_IN_A_BATCH }, (_, from) =>
    Array.from({ length: NAMES_IN_A_BATCH }, (_name, index) => of(`/crowd/${nameOf(from * NAMES_IN_A_BATCH + index)}`)),
  );
}

async function crowded(world: ContractWorld): Promise<ContractClient> {
  const client = await (await world.open()).whenUp();
  await client.ask(create('/crowd', 'persistent'));
  for (const requests of parts((path) => create(path, 'persistent'))) await client.askAll(requests);
  return client;
}

/** Who cleans up after a test lists what is left. */
async function empty(client: ContractClient, from = 0): Promise<void> {
  for (const requests of parts((path) => remove(path)).slice(from)) await client.askAll(requests);
}

export function longListsContract(world: () => ContractWorld): void {
  describe('a list', () => {
    it('fails where it is too long, says why, and harms nobody', async () => {
      const client = await crowded(world());
      const before = client.identity;

      const [made, failed, read] = await client.askAll([
        create('/crowd/lock-', 'ephemeral-sequential'),
        list('/crowd'),
        get('/crowd'),
      ]);

      expect(made).toMatchObject({ path: '/crowd/lock-0000000600' });
      expect(failed).toMatchObject({ code: 'TOO_LARGE', path: '/crowd', outcomeUnknown: false, children: NAMES + 1 });
      expect(failed).toMatchObject({ message: expect.stringMatching(/^\/crowd has 601 children, .* 4\.6 MB/) });
      expect(read).toMatchObject({ stat: { numChildren: NAMES + 1 } });
      expect(client.log.states).toEqual(['connecting', 'connected']);
      expect(client.identity).toEqual(before);
      await empty(client);
    });

    it('is not asked for again where it was too long until there are fewer names, whether all are wanted or few', async () => {
      const client = await crowded(world());
      await client.failure(list('/crowd'));
      const watcher = client.watcher();
      for (const again of [list('/crowd'), list('/crowd', undefined, '-_'), list('/crowd', watcher)])
        expect(await client.failure(again)).toMatchObject({ code: 'TOO_LARGE', children: NAMES });
      expect(client.sent('list', '/crowd')).toHaveLength(1);

      const [fewer] = parts((path) => remove(path));
      await client.askAll(fewer!);
      const asked = client.session.batch([list('/crowd'), list('/crowd', watcher)]);
      client.session.unwatch('/crowd', watcher);
      const [listed] = await world().settle(asked);
      expect(listed).toMatchObject({ stat: { numChildren: NAMES - NAMES_IN_A_BATCH } });
      await client.ask(create('/crowd/another', 'persistent'));
      expect([client.sent('list', '/crowd').length, watcher.told]).toEqual([3, []]);

      await client.askAll([remove('/crowd/another')]);
      await empty(client, 1);
      await client.ask(remove('/crowd'));
      expect(await client.failure(list('/crowd'))).toMatchObject({ code: 'NO_NODE' });
    });

    it('names only the children that are wanted', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/queue', 'persistent'));
      const wanted = ['lock-0000000001', 'x__READ__0000000012', 'lock--2147483648', 'lock--000000001', 'ä-1234567890'];
      const others = [
        'lock-12345678',
        '0123456789',
        'lock-00000000001',
        'order',
        '-',
        'ß1234567890',
        'lock-123456789x',
      ];
      await client.askAll([...wanted, ...others].map((name) => create(`/queue/${name}`, 'persistent')));

      const all = await client.ask(list('/queue'));
      const some = await client.ask(list('/queue', undefined, '-_'));

      expect([...all.children].sort()).toEqual([...wanted, ...others].sort());
      expect([...some.children].sort()).toEqual([...wanted].sort());
      expect(some.stat).toEqual(all.stat);
    });
  });
}
