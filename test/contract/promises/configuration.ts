import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { create, exists, list, set } from '../../../lib/session/requests.js';
import type { ContractClient } from '../worlds/contract-client.js';
import type { ContractWorld, HarmableWorld } from '../worlds/contract-world.js';
import { ANYONE } from '../worlds/defaults.js';
import { type Gaps, itUnless, NO_GAPS } from '../worlds/gaps.js';
import { telling } from '../../support/telling.js';

const READ_ONLY = [{ permissions: 1, scheme: 'world', id: 'anyone' }];
const DATA = Buffer.from('data');

export function configurationContract(world: () => ContractWorld, gaps: Gaps = NO_GAPS): void {
  async function failureOf(client: ContractClient): Promise<LockConfigurationError | undefined> {
    await client.whenState('closed');
    expect(client.log.completed).toBe(true);
    return client.session.failure;
  }

  describe('by its settings,', () => {
    it('a chroot is made with its parents, and all paths are inside it', async () => {
      const client = await (await world().open({ chroot: '/fleet/of/locks' })).whenUp();
      const watcher = client.watcher();
      await client.ask(list('/', watcher));

      const made = await client.ask(create('/queue-', 'persistent-sequential', DATA));

      expect(made.path).toBe('/queue-0000000000');
      expect((await client.ask(list('/'))).children).toEqual(['queue-0000000000']);
      await world().until('the watch is told', () => watcher.told.length > 0);
      expect(watcher.told).toEqual(['children /']);
      const again = await (await world().open({ chroot: '/fleet/of/locks' })).whenUp();
      expect((await again.ask(exists('/queue-0000000000')))?.czxid).toBe(made.stat.czxid);
    });

    itUnless(gaps, 'acl')('a chroot that may not be made ends the session, and the error names it', async () => {
      const client = await (await world().open({ chroot: '/inner' })).whenUp();
      await client.ask(create('/closed', 'persistent', DATA, READ_ONLY));

      const denied = await world().open({ chroot: '/inner/closed/locks' });

      const failure = await failureOf(denied);
      expect(failure).toBeInstanceOf(LockConfigurationError);
      expect(failure).toEqual(telling('/inner/closed/locks'));
      expect(failure?.cause).toMatchObject({ code: 'NO_AUTH' });
      expect(denied.log.states).toEqual(['connecting', 'closed']);
      expect(await denied.failure(exists('/'))).toMatchObject({ code: 'CLOSED', cause: failure });
    });

    it('a granted time-out below two ticks ends the session, and the error names both', async () => {
      const serverTickMs = world().timeoutMs / 2 + 1;

      const client = await world().open({ serverTickMs });

      const failure = await failureOf(client);
      expect(failure).toBeInstanceOf(LockConfigurationError);
      expect(failure?.message).toContain(`${world().timeoutMs} ms`);
      expect(failure?.message).toContain(`${serverTickMs} ms`);
    });

    itUnless(gaps, 'acl')('nodes that name no ACL get the one of the session', async () => {
      const other = await (await world().open()).whenUp();
      const client = await (await world().open({ acl: READ_ONLY })).whenUp();

      await client.askAll([create('/its-own', 'persistent', DATA), create('/named', 'persistent', DATA, ANYONE)]);

      expect(await client.failure(set('/its-own', DATA))).toMatchObject({ code: 'NO_AUTH' });
      expect(await other.failure(set('/its-own', DATA))).toMatchObject({ code: 'NO_AUTH' });
      expect(await client.ask(set('/named', DATA))).toMatchObject({ version: 1 });
    });
  });
}

/** Where the bounds of the servers are known: two and twenty ticks. */
export function grantsContract(world: () => HarmableWorld): void {
  describe('the session time-out', () => {
    it('is what the servers grant, not what was asked for', async () => {
      const { tickMs } = world();

      const [modest, greedy] = await Promise.all([
        world().open({ sessionTimeoutMs: 1, serverTickMs: 1 }),
        world().open({ sessionTimeoutMs: 3_600_000 }),
      ]);
      await modest.whenUp();
      await greedy.whenUp();

      expect(modest.identity.timeoutMs).toBe(2 * tickMs);
      expect(greedy.identity.timeoutMs).toBe(20 * tickMs);
    });
  });
}
