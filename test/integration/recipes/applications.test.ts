import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS } from '../../support/locks/times.js';
import { type NodeChild, ofType } from '../../support/process/node-child.js';
import { RecipeFleet } from '../../support/recipes/recipe-fleet.js';

/** For one that is to end: the servers forget it soon, and not before on a busy machine. */
const BRIEF = { sessionTimeoutMs: SESSION_MS };

const said = (instance: NodeChild, type: string): unknown[] => instance.messages.filter(ofType(type));
const reached = async (instance: NodeChild): Promise<unknown> =>
  (await instance.next('reached', ofType('reached')))['what'];

/** On real servers and in processes, with the very text of the page. */
describe('Of the recipes for applications', () => {
  const stage = new LockStage();

  describe('that of migrations at boot', () => {
    const steps = (...names: string[]) => ({ RECIPE_STEPS: names.join(' ') });
    const NEW = steps('one', 'two', 'three');

    it('lets one instance migrate, another go on where it dies, and all others find it done', async () => {
      await using fleet = await RecipeFleet.make(stage.connect, 'MigrateAtBoot', 'Migrations');
      const first = await fleet.start({ ...BRIEF, env: { ...NEW, RECIPE_STUCK_AT: 'two' } });
      expect([await reached(first), await reached(first)]).toEqual(['one', 'two']);
      const others = await Promise.all([fleet.start({ env: NEW }), fleet.start({ env: NEW })]);
      await stage.untilQueueHas('/locks/migrations', 3);
      expect(others.flatMap((other) => said(other, 'ready'))).toEqual([]);

      await first.kill();
      await Promise.all(others.map((other) => other.next('ready', ofType('ready'))));
      const diary = fleet.diary();
      expect(diary.map(({ what }) => what)).toEqual(['one', 'two', 'three']);
      const [one, two, three] = diary;
      expect([one!.pid, two!.pid]).toEqual([first.pid, three!.pid]);
      expect(BigInt(two!.token)).toBeGreaterThan(BigInt(one!.token));
    });

    it('does not migrate while ZooKeeper is away: the start fails', async () => {
      await using fleet = await RecipeFleet.make('127.0.0.1:1', 'MigrateAtBoot', 'Migrations');
      const instance = await fleet.start({ env: { ...NEW, RECIPE_CONNECT_WITHIN_MS: '1000' } });
      expect(await instance.ended).not.toMatchObject({ code: 0 });
      expect(instance.output()).toContain('127.0.0.1:1');
      expect(fleet.diary()).toEqual([]);
    });

    it('lets an older version start, which has nothing to do', async () => {
      await using fleet = await RecipeFleet.make(stage.connect, 'MigrateAtBoot', 'Migrations');
      await fleet.startReady({ env: NEW });
      await fleet.startReady({ env: steps('one') });
      expect(fleet.diary()).toHaveLength(3);
    });
  });

  describe('that of a nightly job', () => {
    const isEnd = (message: unknown): message is { event: string } =>
      ofType('lock')(message) && (message['event'] === 'released' || message['event'] === 'failed');

    /** Resolves when each has run the job, or left it out. */
    async function fire(...instances: NodeChild[]): Promise<string[]> {
      for (const instance of instances) instance.send('fire');
      const ends = await Promise.all(instances.map((instance) => instance.next('the end of a call', isEnd)));
      return ends.map(({ event }) => event).sort();
    }

    it('runs once, though every instance starts it, at once or late', async () => {
      await using fleet = await RecipeFleet.make(stage.connect, 'NightlyInvoices', 'Invoices');
      const instances = await Promise.all([fleet.startReady(), fleet.startReady()]);
      expect(await fire(...instances)).toEqual(['failed', 'released']);
      for (const late of instances) expect(await fire(late)).toEqual(['failed']);
      const diary = fleet.diary();
      expect(diary.map(({ what }) => what)).toEqual(['ann', 'bob', 'cy']);
      expect(new Set(diary.map(({ token }) => token)).size).toBe(1);
    });

    it('does not run twice in a night either where the one that runs dies', async () => {
      await using fleet = await RecipeFleet.make(`${stage.connect}/killed`, 'NightlyInvoices', 'Invoices');
      const dying = await fleet.startReady({ ...BRIEF, env: { RECIPE_STUCK_AT: 'bob' } });
      dying.send('fire');
      expect([await reached(dying), await reached(dying)]).toEqual(['ann', 'bob']);
      const other = await fleet.startReady();
      expect(await fire(other)).toEqual(['failed']);
      await dying.kill();
      await stage.untilQueueHas('/killed/locks/jobs/invoices', 0);
      expect(await fire(other)).toEqual(['failed']);
      expect(fleet.diary().map(({ what }) => what)).toEqual(['ann']);
    });
  });
});
