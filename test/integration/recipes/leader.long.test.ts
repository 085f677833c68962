import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS } from '../../support/locks/times.js';
import { type NodeChild, ofType } from '../../support/process/node-child.js';
import { RecipeFleet } from '../../support/recipes/recipe-fleet.js';

/** For one that is to end: the servers forget it soon, and not before on a busy machine. */
const BRIEF = { sessionTimeoutMs: SESSION_MS };

const said = (instance: NodeChild, type: string): unknown[] => instance.messages.filter(ofType(type));

/** On real servers and in processes, with the very text of the page. */
describe('The recipe of a leader', () => {
  const stage = new LockStage();

  const fleetOfLeaders = (): Promise<RecipeFleet> => RecipeFleet.make(stage.connect, 'Leader', 'Planner');
  const leads = async (instance: NodeChild): Promise<bigint> =>
    (await instance.next('leads', ofType('leads')))['token'] as bigint;
  const led = async (instance: NodeChild): Promise<unknown> => (await instance.next('led', ofType('led')))['ended'];

  it('lets another lead where the leader is killed, or leaves in order', async () => {
    await using fleet = await fleetOfLeaders();
    const killed = await fleet.startReady(BRIEF);
    const tokens = [await leads(killed)];
    const leaving = await fleet.startReady();
    await stage.untilQueueHas('/locks/leader', 2);
    const last = await fleet.startReady();
    await stage.untilQueueHas('/locks/leader', 3);
    expect([leaving, last].flatMap((instance) => said(instance, 'leads'))).toEqual([]);

    await killed.kill();
    tokens.push(await leads(leaving));
    leaving.signal('SIGTERM');
    tokens.push(await leads(last));
    await leaving.ended;
    expect(said(leaving, 'led')).toHaveLength(1);
    expect([...tokens].sort((one, other) => Number(one - other))).toEqual(tokens);
    expect(new Set(tokens).size).toBe(3);
  });

  it('tells a deposed leader, and lets it stand again', async () => {
    await using fleet = await fleetOfLeaders();
    const first = await fleet.startReady();
    await leads(first);
    const second = await fleet.startReady();
    const [place] = await stage.untilQueueHas('/locks/leader', 2);
    await stage.deleteNode(`/locks/leader/${place}`);
    expect(await led(first)).toBe('LOCK_LOST');
    await leads(second);

    // Behind the second, and with a term of its own.
    const [next] = await stage.untilQueueHas('/locks/leader', 2);
    await stage.deleteNode(`/locks/leader/${next}`);
    expect(await led(second)).toBe('LOCK_LOST');
    await leads(first);
    expect(said(first, 'leads')).toHaveLength(2);
  });

  it('ends the term of one that stood still, as soon as it goes on', async () => {
    await using fleet = await fleetOfLeaders();
    const paused = await fleet.startReady(BRIEF);
    await leads(paused);
    const next = await fleet.startReady();
    await stage.untilQueueHas('/locks/leader', 2);
    await paused.pause();
    const token = await leads(next);
    await paused.resume();
    expect(await led(paused)).toBe('LOCK_LOST');
    // It stands again, behind the one that leads.
    await stage.untilQueueHas('/locks/leader', 2);
    next.signal('SIGTERM');
    expect(await leads(paused)).toBeGreaterThan(token);
  });

  it('has no leader while ZooKeeper is away, and one again when it is back', async () => {
    await using fleet = await fleetOfLeaders();
    const leader = await fleet.startReady(BRIEF);
    const token = await leads(leader);
    await stage.server.kill();
    expect(await led(leader)).toBe('LOCK_LOST');
    expect(said(leader, 'leads')).toHaveLength(1);
    await stage.server.start();
    expect(await leads(leader)).toBeGreaterThan(token);
  });

  it('lets another lead where the work of the leader fails', async () => {
    await using fleet = await fleetOfLeaders();
    const failing = await fleet.startReady();
    await leads(failing);
    const next = await fleet.startReady();
    await stage.untilQueueHas('/locks/leader', 2);
    failing.send('fail');
    expect(await led(failing)).toBe('failed');
    await leads(next);
    await stage.untilQueueHas('/locks/leader', 2);
    expect(said(failing, 'leads')).toHaveLength(1);
  });
});
