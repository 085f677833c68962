import { describe, expect, it } from '@jest/globals';
import { create, exists, get, list, multi, remove, set } from '../../../lib/session/requests.js';
import type { HarmableWorld } from '../worlds/contract-world.js';

const DATA = Buffer.from('data');
/** With the slack of its world sooner than the next look at a client of the package, which takes a second. */
const AT_ONCE_MS = 300;
const ROUNDS = 8;
const READ_ONLY = [{ permissions: 1, scheme: 'world', id: 'anyone' }];

/** What becomes of what the npm package `zookeeper` cannot do: it is refused, or it is bounded. */
export function nativeGapsContract(world: () => HarmableWorld): void {
  describe('a client of the package', () => {
    it('is replaced at once where it gives its connection up without a word, and nothing is sent again', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      for (let round = 1; round <= ROUNDS; round += 1) {
        const { ups } = client.log;
        client.link.blackHole('to-client');

        // The request reaches the package as the connection ends: it may be what finds out, as it is sent.
        const written = client.session.batch([set('/node', DATA)]);
        client.link.cut();

        const [outcome] = await world().settle(written, AT_ONCE_MS + world().slackMs);
        expect(outcome).toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
        await client.link.pass();
        await client.whenUpAgain(ups);
      }
      expect((await client.ask(get('/node'))).stat.version).toBeLessThanOrEqual(ROUNDS);
      expect(client.sent('set').length).toBeLessThanOrEqual(ROUNDS);
    });

    it('is replaced by another if it gets no answer to its handshake, until one does', async () => {
      const client = await world().open({ sessionTimeoutMs: world().shortTimeoutMs });
      client.link.blackHole();
      await world().until('two have tried', () => client.sent('handshake').length >= 2);

      await client.link.pass();

      await client.whenUp();
      expect(await client.ask(exists('/'))).toBeDefined();
    });
  });

  describe('what the package cannot do:', () => {
    it('a multi is refused before anything is sent', async () => {
      const client = await (await world().open()).whenUp();

      const error = await client.failure(multi([create('/made', 'persistent'), set('/made', DATA)]));

      expect(error).toMatchObject({ code: 'UNIMPLEMENTED', outcomeUnknown: false });
      expect([client.session.hasMultis, client.sent('multi').length]).toEqual([false, 0]);
      expect(await client.ask(exists('/made'))).toBeUndefined();
    });

    it('a create that names access rights is refused before anything is sent', async () => {
      const client = await (await world().open()).whenUp();

      const error = await client.failure(create('/guarded', 'persistent', DATA, READ_ONLY));

      expect(error).toMatchObject({ code: 'UNIMPLEMENTED', outcomeUnknown: false, path: '/guarded' });
      expect(client.sent('create', '/guarded')).toHaveLength(0);
    });

    it('a watch that was taken back stays at the server until it fires, and tells nobody', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watcher = client.watcher();
      await client.askAll([get('/node', watcher), list('/node', watcher)]);

      client.session.unwatch('/node', watcher);
      await client.ask(exists('/node'));
      expect(await world().watchCount()).toBeGreaterThan(0);
      await client.ask(remove('/node'));

      await world().until('none is left', async () => (await world().watchCount()) === 0);
      expect(watcher.told).toEqual([]);
    });

    it('a watch that was taken back does not outlive its connection', async () => {
      const client = await (await world().open()).whenUp();
      await client.ask(create('/node', 'persistent'));
      const watcher = client.watcher();
      await client.ask(get('/node', watcher));
      client.session.unwatch('/node', watcher);

      await client.reconnect();

      await world().until('none is left', async () => (await world().watchCount()) === 0);
    });
  });
}
