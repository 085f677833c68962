import { isUp } from '../../../lib/session/connection-state.js';
import { list, remove } from '../../../lib/session/requests.js';
import { drawScenario, type Scenario } from './scenario.js';
import { Caller } from './caller.js';
import { type AppProcess, codeOf } from './app-process.js';
import { givesUpWhileItBeginsToWait, neverArrivesAtItsContainer } from './directed-contender.js';
import {
  givesUpWhileAnUpgraderAsks,
  itsLinkGoesWhileItBeginsToWait,
  queuesAgainInANewSession,
  removedBehindAReader,
  removedBehindAReaderUnseen,
  removedBehindItsNeighbour,
  removedBehindItsNeighbourUnseen,
  removedBehindItsNeighbourWhoseRemovalIsLost,
  upgradesBehindItsNeighbour,
} from './directed-neighbours.js';
import {
  itsKeyHasARecord,
  itsKeyIsMadeAgain,
  itsKeyIsMadeAgainUnwatched,
  itsKeyIsMadeAgainWithoutItsLink,
  othersComeInBetween,
} from './directed-known-order.js';
import { drainedWhileItsNeighbourGivesUp, drainedWhileItsNeighbourGivesUpItsTurn } from './directed-drained.js';
import { removedAfterTheLinkHadGone } from './directed-operator.js';
import {
  givesUpWhileAnOperatorClears,
  givesUpWhileItsNameIsNotShown,
  releasesWhileAnotherLooks,
  writesItsNameTwice,
} from './directed-records.js';
import {
  itsNetworkIsSlow,
  itsProcessComesBackAsTheSilenceEnds,
  itsServerDiesSilently,
  itsServerDiesWithAReset,
  itsServerPauses,
  oneIsSilentAfterAllRefused,
  theQuorumIsAway,
  theQuorumIsAwayAtTheDefaults,
} from './directed-servers.js';
import { checkRest } from './rest.js';
import { Schedule } from './schedule.js';
import type { Verdict } from './run-seed.js';

interface Directed {
  readonly settings: Partial<Scenario>;
  play(schedule: Schedule): Promise<void>;
}

const FIVE_TICKS: Partial<Scenario> = {
  profile: 'servers',
  servers: 3,
  tickMs: 500,
  sessionTimeoutMs: 2_500,
  waitMs: 30_000,
  processes: 1,
};
const DEFAULTS: Partial<Scenario> = { ...FIVE_TICKS, tickMs: 2_000, sessionTimeoutMs: 10_000 };

const NEIGHBOURS: Partial<Scenario> = {
  profile: 'administration',
  servers: 1,
  tickMs: 500,
  sessionTimeoutMs: 4_000,
  waitMs: 30_000,
  processes: 3,
};

const REATTACHED: Partial<Scenario> = {
  profile: 'servers',
  servers: 3,
  tickMs: 500,
  sessionTimeoutMs: 5_000,
  waitMs: 30_000,
  processes: 2,
};

/** Calls that use the records of their keys, and nobody who ends sessions and links but the scenario itself. */
const RECORDS: Partial<Scenario> = {
  profile: 'calm',
  servers: 1,
  tickMs: 500,
  sessionTimeoutMs: 4_000,
  waitMs: 30_000,
  processes: 3,
  record: { part: 1, policies: ['hold'], atLeastMs: 0 },
};

/** What chance finds too rarely, played on purpose; the same checkers look on. */
export const DIRECTED: Readonly<Record<string, Directed>> = {
  'cut off with its follower': {
    settings: { profile: 'servers', servers: 3, tickMs: 500, sessionTimeoutMs: 4_000, waitMs: 30_000, processes: 2 },
    play: cutOffWithItsFollower,
  },
  'the way from the leader stalls, and the way back is cut': {
    settings: { profile: 'servers', servers: 3, tickMs: 500, sessionTimeoutMs: 2_500, waitMs: 30_000, processes: 2 },
    play: stalledFromTheLeader,
  },
  'a re-attach that is not answered': {
    settings: REATTACHED,
    play: unansweredReattachment,
  },
  'a re-attach that only a leader of the past answers': {
    settings: REATTACHED,
    play: answeredByALeaderOfThePast,
  },
  'the link breaks in the turn in which the answer comes': {
    settings: {
      profile: 'servers',
      servers: 1,
      tickMs: 500,
      sessionTimeoutMs: 4_000,
      waitMs: 30_000,
      processes: 1,
      clientLatencyMs: [1, 8],
    },
    play: brokenWithTheAnswer,
  },
  'removed while it proves its life': {
    settings: {
      profile: 'administration',
      servers: 1,
      tickMs: 500,
      sessionTimeoutMs: 1_000,
      waitMs: 30_000,
      processes: 3,
    },
    play: removedWhileItProvesItsLife,
  },
  'removed after the link had gone': {
    // Calm, as the notice of an operator's removal has its bound only where nothing else goes wrong.
    settings: { profile: 'calm', servers: 1, tickMs: 500, sessionTimeoutMs: 4_000, waitMs: 30_000, processes: 2 },
    play: removedAfterTheLinkHadGone,
  },
  'removed behind its neighbour': { settings: NEIGHBOURS, play: removedBehindItsNeighbour },
  'removed behind its neighbour, whose removal is lost': {
    settings: NEIGHBOURS,
    play: removedBehindItsNeighbourWhoseRemovalIsLost,
  },
  'removed behind its neighbour, at servers that lag': {
    // What is read takes long enough for the lock to be given back meanwhile.
    settings: { ...NEIGHBOURS, servers: 3, peerLatencyMs: 20, clientLatencyMs: [30, 30] },
    play: removedBehindItsNeighbourUnseen,
  },
  'removed behind a reader': { settings: NEIGHBOURS, play: removedBehindAReader },
  'removed behind a reader, at servers that lag': {
    settings: { ...NEIGHBOURS, servers: 3, peerLatencyMs: 20 },
    play: removedBehindAReaderUnseen,
  },
  'drained while its neighbour gives up': { settings: NEIGHBOURS, play: drainedWhileItsNeighbourGivesUp },
  'drained while its neighbour gives up its turn': {
    settings: NEIGHBOURS,
    play: drainedWhileItsNeighbourGivesUpItsTurn,
  },
  'a neighbour gives up while an upgrader asks who is inside': {
    settings: { ...NEIGHBOURS, servers: 3, peerLatencyMs: 20, processes: 2 },
    play: givesUpWhileAnUpgraderAsks,
  },
  'upgrades behind its neighbour': { settings: NEIGHBOURS, play: upgradesBehindItsNeighbour },
  'its session ends while neighbours wait': { settings: NEIGHBOURS, play: queuesAgainInANewSession },
  'its link goes while it begins to wait': { settings: NEIGHBOURS, play: itsLinkGoesWhileItBeginsToWait },
  'its key is made again': { settings: NEIGHBOURS, play: itsKeyIsMadeAgain },
  'its key is made again without its link': { settings: NEIGHBOURS, play: itsKeyIsMadeAgainWithoutItsLink },
  'its key is made again unwatched': { settings: NEIGHBOURS, play: itsKeyIsMadeAgainUnwatched },
  'its key has a record': { settings: NEIGHBOURS, play: itsKeyHasARecord },
  'others come in between': { settings: NEIGHBOURS, play: othersComeInBetween },
  'a contender never arrives at its container': {
    settings: {
      profile: 'network',
      servers: 1,
      tickMs: 500,
      sessionTimeoutMs: 4_000,
      waitMs: 30_000,
      processes: 1,
      clientLatencyMs: [1, 10],
    },
    play: neverArrivesAtItsContainer,
  },
  'gives up while it begins to wait': { settings: NEIGHBOURS, play: givesUpWhileItBeginsToWait },
  'a holder releases while another one looks': {
    settings: { ...RECORDS, clientLatencyMs: [1, 8] },
    play: releasesWhileAnotherLooks,
  },
  'gives up while an operator clears the record': {
    settings: { ...RECORDS, profile: 'servers' },
    play: givesUpWhileAnOperatorClears,
  },
  'writes its name twice': {
    settings: { ...RECORDS, profile: 'servers', servers: 3 },
    play: writesItsNameTwice,
  },
  'gives up while its name is not shown': {
    settings: { ...RECORDS, profile: 'servers', servers: 3 },
    play: givesUpWhileItsNameIsNotShown,
  },
  'counter at its ceiling': {
    settings: {
      profile: 'administration',
      servers: 1,
      tickMs: 500,
      sessionTimeoutMs: 2_000,
      waitMs: 2_000,
      processes: 2,
    },
    play: counterAtItsCeiling,
  },
  'one is silent after all have refused': {
    settings: { profile: 'servers', servers: 3, tickMs: 500, sessionTimeoutMs: 10_000, waitMs: 30_000, processes: 1 },
    play: oneIsSilentAfterAllRefused,
  },
  'the quorum is away': { settings: { ...DEFAULTS, sessionTimeoutMs: 30_000 }, play: theQuorumIsAway },
  'the quorum is away, at the defaults': { settings: DEFAULTS, play: theQuorumIsAwayAtTheDefaults },
  'its server dies silently': { settings: FIVE_TICKS, play: itsServerDiesSilently },
  'its server dies silently, at the defaults': { settings: DEFAULTS, play: itsServerDiesSilently },
  'its server dies with a reset': { settings: FIVE_TICKS, play: itsServerDiesWithAReset },
  'its server pauses': { settings: FIVE_TICKS, play: itsServerPauses },
  'its server pauses, at the defaults': { settings: DEFAULTS, play: itsServerPauses },
  'its network is slow': { settings: FIVE_TICKS, play: itsNetworkIsSlow },
  'its process comes back as the silence ends': {
    settings: FIVE_TICKS,
    play: itsProcessComesBackAsTheSilenceEnds,
  },
};

/** Plays one of them; `variation` shifts its instants against the servers' ticks. */
export async function playDirected(name: string, variation: number, print?: (line: string) => void): Promise<Verdict> {
  const directed = DIRECTED[name];
  if (directed === undefined) throw new Error(`There is no ${name}. There are: ${Object.keys(DIRECTED).join(', ')}`);
  const plain = {
    namespace: '',
    lockDelayMs: 0,
    record: undefined,
    maxWaiting: undefined,
    callers: 0,
    faults: 0,
    activeMs: 0,
    containerCheckMs: 60_000,
  };
  const fast = { clientLatencyMs: 1, peerLatencyMs: 1, logMs: 0, stopOnSuspension: 0 };
  const scenario = { ...drawScenario(variation), ...plain, ...fast, keys: ['/locks/a'], ...directed.settings };
  const schedule = new Schedule(scenario, print);
  for (let index = 0; index < scenario.processes; index += 1) schedule.start(`p${index}`);
  await schedule.runUntil(() => schedule.apps.every(({ session }) => session.state === 'connected'));
  await directed.play(schedule);
  schedule.isQuiet = true;
  schedule.world.faults.heal();
  await schedule.runUntil(() => schedule.areCallersDone);
  if (schedule.judge.violations.length === 0) await checkRest(schedule);
  const { judge, journal, book } = schedule;
  const { digest } = journal;
  return {
    seed: variation,
    scenario,
    violations: judge.violations,
    digest,
    grants: book.grants,
    reached: schedule.reached,
  };
}

/** The follower goes on answering pings and reads long after the others have ended the session. */
async function cutOffWithItsFollower(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [holder, next] = apps as [(typeof apps)[number], (typeof apps)[number]];
  // When its heartbeats come, against the ticks by which sessions end.
  await schedule.runFor((scenario.seed % 7) * 71);
  const caller = new Caller(schedule, holder, 'holder');
  schedule.call(holder, async () => {
    const grant = caller.granted('/locks/a', await holder.service.acquire('/locks/a'));
    await holder.sleep(3 * scenario.sessionTimeoutMs);
    await caller.release(grant);
  });
  // Somebody reads all the time, and is answered.
  schedule.call(holder, async () => {
    while (holder.session.state === 'connected') {
      await holder.session.batch([list('/locks')]);
      await holder.sleep(50);
    }
  });
  await schedule.runFor(scenario.sessionTimeoutMs + (scenario.seed % 40) * 63);
  const follower = holder.machine.connectedTo[0];
  if (follower !== undefined) world.faults.isolate(follower, [holder.machine]);
  schedule.call(next, async () => {
    const waiting = new Caller(schedule, next, 'next');
    const grant = waiting.granted('/locks/a', await next.service.acquire('/locks/a'));
    await waiting.release(grant);
  });
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
}

/** Takes the lock, and holds it for as long as it can. */
function holdFor(schedule: Schedule, name: string, durationMs: number): void {
  const app = schedule.apps.find((each) => each.name === name)!;
  const caller = new Caller(schedule, app, name);
  schedule.call(app, async () => {
    const grant = caller.granted('/locks/a', await app.service.acquire('/locks/a'));
    await app.sleep(durationMs);
    await caller.release(grant);
  });
}

/**
 * A new leader, whose pings come at another phase of the ticks by which sessions end: whether a client that believes for too
 * long is found out depends on it.
 */
async function electAtSomeMoment(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  await schedule.runFor((scenario.seed % 20) * (scenario.tickMs / 20));
  const past = world.leaderId;
  if (past !== undefined) world.faults.restartServer(past);
  const isWhole = (): boolean => world.leaderId !== undefined && world.ensemble.isWhole;
  await schedule.runUntil(() => isWhole() && apps.every(({ session }) => isUp(session.state)));
}

/**
 * The pings of the leader are late, and come together with the commit of the holder's heartbeat; the follower's answers
 * to them never reach the leader. A client that takes the commit alone for a proof believes for too long.
 */
async function stalledFromTheLeader(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const { sessionTimeoutMs, tickMs, seed } = scenario;
  const [holder] = apps as [(typeof apps)[number]];
  await electAtSomeMoment(schedule);
  holdFor(schedule, 'p0', 4 * sessionTimeoutMs);
  await schedule.runFor(sessionTimeoutMs + (seed % 40) * 37);
  const follower = holder.machine.connectedTo[0];
  if (follower === undefined || follower === world.leaderId) return;
  const { traffic } = world.ensemble;
  const beats = traffic.requests('set');
  await schedule.runUntil(() => traffic.requests('set') > beats);
  // The heartbeat is answered a few milliseconds later, and so is the sync behind it.
  await schedule.runFor(12 + (seed >= 20 ? 20 : 0));
  world.faults.stall(follower, 'to-follower');
  await schedule.runFor(tickMs * 1.33);
  world.faults.flow(follower);
  world.faults.stall(follower, 'to-leader');
  await schedule.runFor(20);
  world.faults.isolate(follower, [holder.machine]);
  holdFor(schedule, 'p1', 0);
  await schedule.runFor(2 * sessionTimeoutMs);
  world.faults.flow(follower);
}

/** The first process holds for long, and another waits for it, from some moment between two heartbeats on. */
async function heldAndWaitedFor(schedule: Schedule): Promise<AppProcess> {
  const { apps, scenario } = schedule;
  const [holder] = apps as [AppProcess];
  holdFor(schedule, 'p0', 3 * scenario.sessionTimeoutMs);
  await schedule.runFor(scenario.sessionTimeoutMs + (scenario.seed % 40) * 63);
  holdFor(schedule, 'p1', 0);
  return holder;
}

/** The link goes, and the answer to the next offer of the session is lost. */
async function offerInVain(schedule: Schedule, { machine }: AppProcess, withinMs?: number): Promise<void> {
  const { faults } = schedule.world;
  const loss = faults.loseReplyOfNext(machine, 'reattach');
  faults.suspend(machine);
  await schedule.runUntil(() => loss.hasHappened, withinMs);
}

/** The servers have been restarted with narrower bounds. The first that takes the session up again shortens it; nobody is told. */
async function unansweredReattachment(schedule: Schedule): Promise<void> {
  const { world, scenario } = schedule;
  const holder = await heldAndWaitedFor(schedule);
  for (let id = 1; id <= scenario.servers; id += 1) world.faults.limitSessions(id, 2 * scenario.tickMs);
  await offerInVain(schedule, holder);
  // From now on every offer is sent, and none is read.
  const [follower] = world.followerIds;
  if (follower === undefined) return;
  world.faults.isolate(follower, [holder.machine]);
  world.faults.freezeServer(follower);
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
  world.faults.thawServer(follower);
}

/**
 * The first offer reaches the new leader, which shortens the session, and its answer is lost. The second is answered by the
 * leader of before, cut off and not aware of it, with all the time there was.
 */
async function answeredByALeaderOfThePast(schedule: Schedule): Promise<void> {
  const { world, scenario } = schedule;
  const holder = await heldAndWaitedFor(schedule);
  const past = world.leaderId;
  if (past === undefined) return;
  world.faults.isolate(past, []);
  for (let id = 1; id <= scenario.servers; id += 1) {
    if (id === past) continue;
    world.faults.limitSessions(id, 2 * scenario.tickMs);
    // Left to themselves they would give their leader up no sooner than it does them.
    world.faults.restartServer(id);
  }
  const newLeader = (): boolean => world.leaderId !== past && world.leaderId !== undefined;
  if (!(await schedule.runUntil(newLeader, 4 * scenario.tickMs))) return;
  await offerInVain(schedule, holder, scenario.sessionTimeoutMs);
  world.faults.isolate(past, [holder.machine]);
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
}

/** Whatever was answered in that turn, nobody may be let in: the rest of it tells that the link is down. */
async function brokenWithTheAnswer(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [app] = apps as [(typeof apps)[number]];
  for (let round = 0; round < 10; round += 1) {
    holdFor(schedule, 'p0', 1);
    await schedule.runFor(scenario.seed % 10);
    world.faults.restartServer(1);
    await schedule.runUntil(() => schedule.areCallersDone && app.session.state === 'reconnected');
  }
}

/** Its turn has come, the session has been silent for long, and before the proof is there an operator removes the node. */
async function removedWhileItProvesItsLife(schedule: Schedule): Promise<void> {
  const { apps, book, scenario } = schedule;
  const [holder, next, operator] = apps as [(typeof apps)[number], (typeof apps)[number], (typeof apps)[number]];
  const lock = holder.service.acquire('/locks/a');
  await schedule.runFor(100);
  schedule.call(next, async () => {
    const waiting = new Caller(schedule, next, 'next');
    const grant = waiting.granted('/locks/a', await next.service.acquire('/locks/a'));
    await waiting.release(grant);
  });
  await schedule.runFor(3 * scenario.sessionTimeoutMs);
  const path = book.truth.paths.at(-1)!;
  book.excusePath(path);
  schedule.call(holder, async () => (await lock).release());
  await schedule.runFor(scenario.seed * 0.5);
  void operator.session.batch([remove(path)]);
  await schedule.runFor(scenario.sessionTimeoutMs);
}

/** From there on siblings share a number, and nobody knows who came first: nobody may enter. */
async function counterAtItsCeiling(schedule: Schedule): Promise<void> {
  const { apps, world, judge } = schedule;
  const [first] = apps as [(typeof apps)[number]];
  schedule.call(first, async () => {
    const lock = await first.service.acquire('/locks/a');
    await lock.release();
  });
  await schedule.runUntil(() => schedule.areCallersDone);
  world.faults.jumpSequence('/locks/a', 2_147_483_645 + (schedule.scenario.seed % 3));
  for (const app of apps) {
    schedule.call(app, async () => {
      for (let count = 0; count < 4; count += 1) {
        const caller = new Caller(schedule, app, `c${count}`);
        const lock = await app.service.acquire('/locks/a').catch((error: unknown) => codeOf(error));
        if (typeof lock !== 'string') {
          const grant = caller.granted('/locks/a', lock);
          await app.sleep(10);
          await caller.release(grant);
        } else if (lock !== 'LOCK_CONFIGURATION')
          judge.blame('honest errors', `${app.name}: ${lock} at the ceiling of the counter`);
      }
    });
  }
  await schedule.runUntil(() => schedule.areCallersDone);
  // Once nobody queues there, the servers may take the parent away, and it starts again.
  await schedule.runFor(1_000);
  world.faults.reapContainers();
}
