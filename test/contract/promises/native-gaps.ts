import { describe, expect, it } from '@jest/globals';
import { create, exists, get, list, multi, remove, set } from '../../../lib/session/requests.js';
import type { HarmableWorld } from '../worlds/contract-world.js';

const DATA = Buffer.from('data');
const READ_ONLY = [{ permissions: 1, scheme: 'world', id: 'anyone' }];

/** What becomes of what the npm package `zookeeper` cannot do: it is refused, or it is bounded. */
export function nativeGapsContract(world: () => HarmableWorld): void {
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
