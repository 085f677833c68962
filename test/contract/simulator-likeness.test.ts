import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SessionClient } from '../../lib/session/core/session-client.js';
import { isUp } from '../../lib/session/connection-state.js';
import { SimulatedWorld } from '../support/simulation/simulated-world.js';
import { closeOpenSessions, openWire, untilUp } from '../support/sessions/wire-session.js';
import { type StandaloneServer, startZooKeeper } from '../support/zookeeper/start-zookeeper.js';
import { transcript } from './likeness/transcript.js';

const SEEDS = [41, 55, 65, 106, 118, 125, 201, 202, 203, 204];

describe('The simulator, beside a real ZooKeeper,', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper();
  });
  // A fresh tree for every seed, so that both begin with the same.
  afterEach(async () => {
    await closeOpenSessions();
    await server.wipe();
  });
  afterAll(() => server.stop());

  it.each(SEEDS)(
    'gives the same answers to 150 random requests of two sessions, with their stats, errors and watch events: seed %i',
    async (seed) => {
      const real = [openWire([server.port]), openWire([server.port])] as const;
      for (const session of real) await untilUp(session);
      const expected = await transcript(real, seed, (promise) => promise);
      expect(await simulated(seed)).toEqual(expected);
    },
  );
});

async function simulated(seed: number): Promise<string[]> {
  const world = new SimulatedWorld();
  const sessions = ['one', 'two'].map((name) => {
    const process = world.process(name);
    const { clock, random } = process;
    const settings = {
      chroot: '',
      sessionTimeoutMs: 2_000,
      serverTickMs: 500,
      namespace: '',
      auth: [],
      acl: [],
      clock,
      random,
    };
    return new SessionClient({ ...settings, servers: world.servers }, process.dialer());
  });
  const [one, two] = [sessions[0]!, sessions[1]!];
  await world.runUntil(() => isUp(one.state) && isUp(two.state));
  return transcript([one, two], seed, (promise) => world.settle(promise));
}
