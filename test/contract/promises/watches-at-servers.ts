import { describe, expect, it } from '@jest/globals';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, list, remove, set, sync } from '../../../lib/session/requests.js';
import type { HarmableWorld } from '../worlds/contract-world.js';
import { type Gaps, itUnless, NO_GAPS } from '../worlds/gaps.js';

const DATA = Buffer.from('data');

export function watchesAtServersContract(world: () => HarmableWorld, gaps: Gaps = NO_GAPS): void {
  async function whenWatches(wanted: 'some' | 'none'): Promise<void> {
    const isSo = async (): Promise<boolean> => (await world().watchCount()) > 0 === (wanted === 'some');
    await world().until(`${wanted} are set at the servers`, isSo, 5_000);
  }

  describe('watches at the servers', () => {
    it('are gone after they were told', async () => {
      const client = await (await world().open()).whenUp();
      await client.askAll([
        create('/node', 'persistent'),
        get('/node', client.watcher()),
        list('/node', client.watcher()),
      ]);
      await whenWatches('some');

      await client.ask(remove('/node'));

      await whenWatches('none');
    });

    itUnless(gaps, 'watch removal')('are gone after they were taken back', async () => {
      const client = await (await world().open()).whenUp();
      const watcher = client.watcher();
      await client.askAll([create('/node', 'persistent')]);
      await client.askAll([get('/node', watcher), list('/node', watcher), exists('/missing', watcher)]);
      await whenWatches('some');

      for (const path of ['/node', '/missing']) client.session.unwatch(path, watcher);

      await whenWatches('none');
    });

    itUnless(gaps, 'watch removal')('are gone when they were taken back before the answer that set them', async () => {
      const client = await (await world().open()).whenUp();
      const watcher = client.watcher();
      await client.askAll([create('/node', 'persistent')]);

      // The write in front keeps the reads waiting at the server, and so the removals behind them.
      const asked = client.session.batch([
        create('/other', 'persistent'),
        get('/node', watcher),
        list('/node', watcher),
        exists('/missing', watcher),
      ]);
      for (const path of ['/node', '/missing']) client.session.unwatch(path, watcher);
      const outcomes = await world().settle(asked);

      expect(outcomes.filter((outcome) => outcome instanceof SessionError)).toEqual([]);
      await client.ask(sync('/node'));
      await whenWatches('none');
    });

    it('stay as long as another here wants them', async () => {
      const [client, other] = await Promise.all([world().open(), world().open()]);
      await client.whenUp();
      await other.whenUp();
      await client.ask(create('/node', 'persistent'));
      const [leaving, staying] = [client.watcher(), client.watcher()];
      await client.askAll([get('/node', leaving), exists('/node', staying)]);

      client.session.unwatch('/node', leaving);
      await client.ask(sync('/node'));
      await whenWatches('some');
      await other.ask(set('/node', DATA));

      await world().until('the one that stayed is told', () => staying.told.length > 0);
      expect(leaving.told).toEqual([]);
    });

    it('do not come back with the link if they were taken back while it was down', async () => {
      const client = await (await world().open()).whenUp();
      const [leaving, staying] = [client.watcher(), client.watcher()];
      await client.askAll([create('/one', 'persistent'), create('/other', 'persistent')]);
      await client.askAll([get('/one', leaving), get('/other', staying)]);
      await client.link.refuse();
      await client.whenState('suspended');
      const { ups } = client.log;

      client.session.unwatch('/one', leaving);
      await client.link.pass();
      await client.whenUpAgain(ups);
      await client.ask(sync('/one'));
      await whenWatches('some');
      await client.ask(remove('/other'));

      expect(staying.told).toEqual(['deleted /other']);
      await whenWatches('none');
    });
  });
}
