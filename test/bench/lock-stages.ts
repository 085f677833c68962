import { startProxy } from '../support/proxy/fault-proxy.js';
import { startEnsemble } from '../support/zookeeper/ensemble.js';
import { startZooKeeper } from '../support/zookeeper/start-zookeeper.js';
import type { ServerOptions } from '../support/zookeeper/options.js';
import { BENCH_SERVER, POOL_SERVER } from './bench-server.js';
import { DELAY_MS, type Scenario, SCENARIOS } from './lock-scenarios.js';

/** The servers of a stage, while it is played. */
export interface Venue extends AsyncDisposable {
  /** The one server with which all contestants talk. */
  readonly connect: string;
  /** The way to it on which every request is delayed, at the stage that has such a scenario. */
  readonly farConnect?: string;
  /** Throws when the server is no longer what it was chosen for: the figures are of something else then. */
  check(): Promise<void>;
}

/** Where the scenarios are played. */
export interface Stage {
  readonly name: StageName;
  readonly title: string;
  readonly scenarios: readonly Scenario[];
  open(): Promise<Venue>;
}

export type StageName = 'one' | 'one-pool' | 'three-leader' | 'three-follower';

/** A container that is reaped within the bench would be made anew at the expense of one contestant. */
const NOT_REAPED: ServerOptions = { containerCheckIntervalMs: 3_600_000 };
const SERVER: ServerOptions = { ...BENCH_SERVER, ...NOT_REAPED };

/** What three servers add is the way between them: another delay, or another Redis, would show nothing new. */
const WITH_THREE: readonly Scenario[] = SCENARIOS.filter(({ delayed }) => !delayed).map((scenario) => ({
  ...scenario,
  contestants: scenario.contestants.filter((name) => name !== 'redlock'),
}));

export const STAGES: readonly Stage[] = [
  { name: 'one', title: 'one server', scenarios: SCENARIOS, open: () => openOne(SERVER) },
  {
    // The floor's list keeps the one thread of the other server awake until the create is answered, which it does nowhere else.
    name: 'one-pool',
    title: "one server, with ZooKeeper's own pool of threads",
    scenarios: SCENARIOS.filter(({ name }) => name === 'uncontended'),
    open: () => openOne({ ...POOL_SERVER, ...NOT_REAPED }),
  },
  {
    name: 'three-leader',
    title: 'three servers, all contestants at the leader',
    scenarios: WITH_THREE,
    open: () => openThree('leader'),
  },
  {
    name: 'three-follower',
    title: 'three servers, all contestants at one follower',
    scenarios: WITH_THREE,
    open: () => openThree('follower'),
  },
];

async function openOne(options: ServerOptions): Promise<Venue> {
  const server = await startZooKeeper(options);
  const proxy = await startProxy({ target: server.port, raw: true });
  proxy.delay({ toServerMs: DELAY_MS });
  return {
    connect: server.connect,
    farConnect: proxy.connect,
    check: () => Promise.resolve(),
    async [Symbol.asyncDispose]() {
      await proxy.stop();
      await server.stop();
    },
  };
}

async function openThree(role: 'leader' | 'follower'): Promise<Venue> {
  const ensemble = await startEnsemble({ ...SERVER, servers: 3, proxies: false });
  const [server] = role === 'leader' ? [await ensemble.leader()] : await ensemble.followers();
  if (server === undefined) throw new Error(`The ensemble has no ${role}.`);
  return {
    connect: server.connect,
    async check() {
      const now = await server.role();
      if (now !== role) throw new Error(`The ${role} that was measured has become ${now}: measure again.`);
    },
    [Symbol.asyncDispose]: () => ensemble.stop(),
  };
}
