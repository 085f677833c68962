import type { ContenderSnapshot, LockSnapshot } from 'nestjs-zookeeper-lock';

/** What visitors may see of a contender. */
export interface ContenderView {
  readonly mode: string;
  readonly fencingToken: string;
  readonly sessionId: string;
  readonly since: string;
  readonly ageMs: number;
  readonly label: string | undefined;
  readonly host: string | undefined;
  readonly pid: number | undefined;
}

export interface LockView {
  readonly key: string;
  readonly state: string;
  readonly holders: readonly ContenderView[];
  readonly queue: readonly ContenderView[];
  readonly queueLength: number;
  readonly waitEstimateMs: number | undefined;
}

export function lockView({ key, state, holders, queue, queueLength, waitEstimateMs }: LockSnapshot): LockView {
  return {
    key,
    state,
    holders: holders.map(contenderView),
    queue: queue.map(contenderView),
    queueLength,
    waitEstimateMs,
  };
}

function contenderView({ mode, fencingToken, sessionId, since, ageMs, client }: ContenderSnapshot): ContenderView {
  return {
    mode,
    fencingToken: String(fencingToken),
    sessionId,
    since: since.toISOString(),
    ageMs,
    label: client?.label,
    host: client?.host,
    pid: client?.pid,
  };
}
