import type { LockMode } from '../lock/mode.js';
import type { ContenderSnapshot, LockSnapshot } from '../lock/snapshot.js';
import { fencingToken } from '../lock/token.js';
import { blocks, readQueue } from '../queue/decide.js';
import type { QueueNode } from '../queue/node-name.js';
import { failedWith, isAboutTheLink, SessionError } from '../session/errors.js';
import { get, list, sync } from '../session/requests.js';
import { decodeContender } from './contender-data.js';
import type { EngineContext } from './context.js';
import { refusal } from './enqueue.js';
import type { Interrupt } from './interrupt.js';
import { pendingDelayMs } from './lock-delay.js';

/** A queue may be long; what is read of it is not. */
const MAX_DESCRIBED = 100;

/** A strong read of one key: the queue as the leader has it now, and who is behind each place. */
export async function inspectKey(
  context: EngineContext,
  key: string,
  queuePath: string,
  interrupt: Interrupt,
): Promise<LockSnapshot> {
  for (;;) {
    await interrupt.guard(context.uplink.whenUp());
    const requests = [sync(queuePath), list(queuePath), get(queuePath)] as const;
    const [synced, listed, parent] = await interrupt.guard(context.session.batch(requests));
    if (failedWith(listed, 'NO_NODE')) return describe(context, key, [], [], undefined);
    const error = [synced, listed].find((outcome) => outcome instanceof SessionError);
    if (error !== undefined && !isAboutTheLink(error)) throw refusal(error, key);
    if (listed instanceof SessionError || error !== undefined) continue;
    const queue = readQueue(listed.children);
    const contenders = await describeContenders(context, queuePath, queue.slice(0, MAX_DESCRIBED), interrupt);
    if (contenders === undefined) continue;
    const delayMs = parent instanceof SessionError ? undefined : pendingDelayMs(parent.data);
    return describe(context, key, queue, contenders, delayMs);
  }
}

/** @returns undefined when the link went away meanwhile */
async function describeContenders(
  { session }: EngineContext,
  queuePath: string,
  nodes: readonly QueueNode[],
  interrupt: Interrupt,
): Promise<ContenderSnapshot[] | undefined> {
  const paths = nodes.map(({ name }) => `${queuePath}/${name}`);
  const outcomes = await interrupt.guard(session.batch(paths.map((path) => get(path))));
  if (outcomes.some((outcome) => outcome instanceof SessionError && isAboutTheLink(outcome))) return undefined;
  const contenders: ContenderSnapshot[] = [];
  outcomes.forEach((outcome, index) => {
    // One that has left meanwhile.
    if (outcome instanceof SessionError) return;
    const { stat, data } = outcome;
    contenders.push({
      nodePath: paths[index]!,
      mode: nodes[index]!.mode,
      fencingToken: fencingToken(stat.czxid),
      sessionId: stat.ephemeralOwner,
      since: new Date(stat.ctime),
      ageMs: Math.max(0, Date.now() - stat.ctime),
      client: decodeContender(data),
    });
  });
  return contenders;
}

function describe(
  { history }: EngineContext,
  key: string,
  queue: readonly QueueNode[],
  contenders: readonly ContenderSnapshot[],
  delayMs: number | undefined,
): LockSnapshot {
  const holding = new Set(holdersOf(queue).map(({ name }) => name));
  const intents = intentsOf(queue);
  const isHolder = ({ nodePath }: ContenderSnapshot): boolean => holding.has(nameOf(nodePath));
  const holders = contenders.filter(isHolder);
  const averageMs = history.averageMs(key);
  const queueLength = queue.length - holding.size - intents.size;
  const elapsedMs = holders[0]?.ageMs ?? 0;
  return {
    key,
    state: holders.length > 0 ? 'HELD' : delayMs === undefined ? 'FREE' : 'EXPIRED',
    holders,
    queue: contenders.filter((contender) => !isHolder(contender) && !intents.has(nameOf(contender.nodePath))),
    queueLength,
    waitEstimateMs: averageMs === undefined ? undefined : estimate(averageMs, queueLength, holding.size > 0, elapsedMs),
  };
}

/** Those with nobody ahead that blocks them. */
function holdersOf(queue: readonly QueueNode[]): QueueNode[] {
  const ahead = new Set<LockMode>();
  return queue.filter(({ mode }) => {
    const isBlocked = [...ahead].some((other) => blocks(other, mode));
    ahead.add(mode);
    return !isBlocked;
  });
}

/** An upgrader's second node is no contender of its own. */
function intentsOf(queue: readonly QueueNode[]): ReadonlySet<string> {
  const upgraders = new Set(queue.filter(({ mode }) => mode === 'upgradeable').map(({ id }) => id));
  return new Set(queue.filter(({ mode, id }) => mode === 'write' && upgraders.has(id)).map(({ name }) => name));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function estimate(averageMs: number, queueLength: number, isHeld: boolean, elapsedMs: number): number {
  const restMs = isHeld ? Math.max(0, averageMs - elapsedMs) : 0;
  return Math.round(restMs + averageMs * queueLength);
}
