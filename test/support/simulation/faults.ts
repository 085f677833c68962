import { remove } from '../../../lib/session/requests.js';
import type { Op } from '../../../lib/session/simulator/network/client-network.js';
import type { AppProcess } from './app-process.js';
import { chance, pick, type Profile } from './scenario.js';
import type { Schedule } from './schedule.js';

/** Begins; the returned function ends it. */
type Fault = (schedule: Schedule, durationMs: number) => () => void;

/** More creates than all callers of a schedule have under way at once. */
const MOST_UNDER_WAY = 50;
const NOTHING = (): void => undefined;
const LOSABLE: readonly Op[] = ['create', 'create', 'create', 'list', 'get', 'delete', 'multi', 'set', 'sync'];

function someApp({ liveApps, random }: Schedule): AppProcess | undefined {
  return liveApps.length === 0 ? undefined : pick(random, liveApps);
}

function onApp(act: (schedule: Schedule, app: AppProcess) => () => void): Fault {
  return (schedule) => {
    const app = someApp(schedule);
    return app === undefined ? NOTHING : act(schedule, app);
  };
}

function someServer({ random, scenario, world }: Schedule): number {
  const leaderId = world.leaderId;
  return leaderId !== undefined && chance(random, 0.4) ? leaderId : 1 + random.integer(scenario.servers);
}

const PROCESSES: Readonly<Record<string, Fault>> = {
  kill: onApp((schedule, app) => {
    schedule.kill(app);
    schedule.forgetCallersOf(app);
    return NOTHING;
  }),
  pause: onApp((_schedule, app) => {
    app.pause();
    return () => app.resume();
  }),
  block: onApp((schedule, app) => {
    app.pause();
    schedule.after(schedule.scenario.sessionTimeoutMs * 0.2 * schedule.random.next(), () => app.resume());
    return NOTHING;
  }),
};

const NETWORK: Readonly<Record<string, Fault>> = {
  suspend: onApp(({ world }, app) => {
    world.faults.suspend(app.machine);
    return NOTHING;
  }),
  refuse: onApp(({ world }, app) => {
    world.faults.refuse(app.machine);
    return () => world.faults.accept(app.machine);
  }),
  blackHole: onApp(({ world, random }, app) => {
    world.faults.blackHole(app.machine, pick(random, [undefined, 'to-server', 'to-client']));
    return () => world.faults.pass(app.machine);
  }),
  loseReply: onApp(({ world, random }, app) => {
    const loss = world.faults.loseReplyOfNext(app.machine, pick(random, LOSABLE));
    return () => (loss.hasHappened = true);
  }),
  loseRequest: onApp(({ world, random }, app) => {
    const loss = world.faults.loseNextRequest(app.machine, pick(random, LOSABLE));
    return () => (loss.hasHappened = true);
  }),
  delayWatches: onApp(({ world, random, scenario }, app) => {
    world.faults.delayWatches(app.machine, scenario.sessionTimeoutMs * random.next());
    return () => world.faults.delayWatches(app.machine, 0);
  }),
  slowLink: onApp(({ world, random, scenario }, app) => {
    world.faults.setLatency(app.machine, [1, (scenario.sessionTimeoutMs / 4) * random.next() + 1]);
    return () => world.faults.setLatency(app.machine, undefined);
  }),
};

const SERVERS: Readonly<Record<string, Fault>> = {
  kill: (schedule) => {
    const id = someServer(schedule);
    schedule.world.faults.killServer(id);
    return () => schedule.world.faults.startServer(id);
  },
  restart: (schedule) => {
    schedule.world.faults.restartServer(someServer(schedule));
    return NOTHING;
  },
  freeze: (schedule) => {
    const id = someServer(schedule);
    schedule.world.faults.freezeServer(id);
    return () => schedule.world.faults.thawServer(id);
  },
  isolate: (schedule) => {
    if (schedule.scenario.servers > 1) schedule.world.faults.isolate(someServer(schedule));
    return () => schedule.world.faults.heal();
  },
  lag: (schedule, durationMs) => {
    const id = someServer(schedule);
    schedule.world.faults.lag(id, durationMs * schedule.random.next());
    return () => schedule.world.faults.lag(id, 0);
  },
  stall: (schedule) => {
    const { world, random } = schedule;
    const id = someServer(schedule);
    world.faults.stall(id, pick(random, ['to-leader', 'to-follower']));
    return () => world.faults.flow(id);
  },
  narrow: (schedule) => {
    const { world, scenario, random } = schedule;
    const id = someServer(schedule);
    world.faults.limitSessions(id, scenario.tickMs * pick(random, [2, 3]));
    const client = someApp(schedule)?.machine;
    const loss = client === undefined ? undefined : world.faults.loseReplyOfNext(client, 'reattach');
    return () => {
      world.faults.limitSessions(id, undefined);
      if (loss !== undefined) loss.hasHappened = true;
    };
  },
  holdCommits: ({ world }) => {
    world.faults.holdCommits();
    return () => world.faults.releaseCommits();
  },
  dropQuorum: ({ world }) => {
    world.faults.dropQuorum();
    return () => world.faults.restoreQuorum();
  },
};

const ADMINISTRATION: Readonly<Record<string, Fault>> = {
  expire: onApp(({ world, book }, app) => {
    const id = app.session.identity?.id;
    if (id === undefined || world.leaderId === undefined) return NOTHING;
    book.excuseSession(id);
    world.faults.expire(id);
    return NOTHING;
  }),
  removeContender,
  reap: ({ world }) => {
    if (world.leaderId !== undefined) world.faults.reapContainers();
    return NOTHING;
  },
  jump: (schedule) => {
    const { world, random, scenario } = schedule;
    const path = schedule.queuePath(pick(random, scenario.keys));
    if (world.leaderId === undefined || world.stat(path) === undefined) return NOTHING;
    const creates = world.ensemble.server(world.leaderId).tree.nodes.get(path)!.creates;
    // Past another digit, where text and number sort differently. Servers never give a number twice, so it is also past those that
    // creates under way have been given.
    const next = 10 ** String(creates + MOST_UNDER_WAY).length - 1;
    if (next < 1_000_000_000) world.faults.jumpSequence(path, next);
    return NOTHING;
  },
};

/** By somebody with a client of his own, who sees what is there and deletes what he thinks is in the way. */
function removeContender(schedule: Schedule): () => void {
  const { book, random } = schedule;
  const { paths } = book.truth;
  if (paths.length > 0 && schedule.operator !== undefined) removeNode(schedule, pick(random, paths));
  return NOTHING;
}

export function removeNode({ book, tap, operator }: Schedule, path: string): void {
  book.excusePath(path);
  // A waiter that was removed goes on listening until it looks again.
  tap.observedKeys.add(path.slice(0, path.lastIndexOf('/')));
  void operator?.batch([remove(path)]);
}

const BY_PROFILE: Readonly<Record<Profile, readonly Readonly<Record<string, Fault>>[]>> = {
  calm: [{ removeContender }],
  processes: [PROCESSES],
  network: [NETWORK],
  servers: [SERVERS],
  administration: [ADMINISTRATION],
  everything: [PROCESSES, NETWORK, SERVERS, ADMINISTRATION],
};

/** Lets faults of the profile happen at random instants, some short, some for longer than a session lives. */
export function planFaults(schedule: Schedule): void {
  const { scenario, random } = schedule;
  const kinds = BY_PROFILE[scenario.profile].flatMap((group) => Object.entries(group));
  for (let count = 0; count < scenario.faults; count += 1) {
    const [name, begin] = pick(random, kinds);
    const startsInMs = scenario.activeMs * random.next();
    const durationMs =
      scenario.sessionTimeoutMs * (chance(random, 0.5) ? 0.6 * random.next() : 0.6 + 2 * random.next());
    schedule.after(startsInMs, () => {
      if (schedule.isQuiet) return;
      schedule.note(`fault ${name} for ${durationMs.toFixed(0)}`);
      const undo = begin(schedule, durationMs);
      const end = (): void => {
        if (!schedule.endFaults.delete(end)) return;
        schedule.note(`fault ${name} ends`);
        undo();
      };
      schedule.endFaults.add(end);
      schedule.after(durationMs, end);
    });
  }
}

/** Everything is well from here on. */
export function endAllFaults({ world, apps, scenario, endFaults }: Schedule): void {
  const { faults } = world;
  for (const end of [...endFaults]) end();
  faults.releaseCommits();
  faults.restoreQuorum();
  for (let id = 1; id <= scenario.servers; id += 1) {
    faults.startServer(id);
    faults.thawServer(id);
    faults.lag(id, 0);
    faults.flow(id);
    faults.limitSessions(id, undefined);
  }
  faults.heal();
  for (const app of apps) {
    if (app.isKilled) continue;
    faults.pass(app.machine);
    faults.accept(app.machine);
    faults.delayWatches(app.machine, 0);
    faults.setLatency(app.machine, undefined);
    app.resume();
  }
}
