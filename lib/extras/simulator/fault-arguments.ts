import { LockConfigurationError } from '../../lock/errors.js';
import type { Op } from '../../session/simulator/network/client-network.js';
import type { SimulatedProcess } from '../../session/simulator/simulated-process.js';
import type { Simulation } from '../../session/simulator/simulation.js';
import { describe, isLatency, isMilliseconds, LATENCY_EXPECTED } from './simulator-options.js';
import type { SimulatedClient } from './simulated-client.js';

/** A client, or the name that it was made with. */
export type ClientReference = SimulatedClient | string;

/**
 * A request as the servers know it. A contender joins a queue with a `create`, looks at the queue with a `list`, and
 * releases a lock with a `delete`. A client proves its session with a `set` or `sync`. `reattach` is the handshake of a
 * client that comes back.
 */
export type RequestKind = Op;

const REQUESTS: Readonly<Record<RequestKind, true>> = {
  create: true,
  delete: true,
  set: true,
  exists: true,
  get: true,
  list: true,
  sync: true,
  multi: true,
  auth: true,
  setWatches: true,
  removeWatches: true,
  ping: true,
  closeSession: true,
  reattach: true,
};

type Kind =
  | 'client'
  | 'clients?'
  | 'server'
  | 'request'
  | 'way of a client?'
  | 'way of a server?'
  | 'milliseconds'
  | 'milliseconds?'
  | 'latency?'
  | 'path'
  | 'number';

/** The arguments of each fault, in order. */
const ARGUMENTS = {
  cutLink: ['client'],
  refuseLinks: ['client'],
  acceptLinks: ['client'],
  stallLink: ['client', 'way of a client?'],
  resumeLink: ['client'],
  loseNextReply: ['client', 'request'],
  loseNextRequest: ['client', 'request'],
  delayWatchEvents: ['client', 'milliseconds'],
  setLatency: ['client', 'latency?'],
  expireSession: ['client'],
  pauseClient: ['client'],
  resumeClient: ['client'],
  killClient: ['client'],
  killServer: ['server'],
  startServer: ['server'],
  restartServer: ['server'],
  freezeServer: ['server'],
  thawServer: ['server'],
  isolateServer: ['server', 'clients?'],
  endIsolation: [],
  lagServer: ['server', 'milliseconds'],
  stallServer: ['server', 'way of a server?'],
  resumeServer: ['server'],
  limitSessions: ['server', 'milliseconds?'],
  holdCommits: [],
  releaseCommits: [],
  loseQuorum: [],
  restoreQuorum: [],
  wipeServers: [],
  removeEmptyKeys: [],
  setNextSequence: ['path', 'number'],
  endAll: [],
} as const satisfies Readonly<Record<string, readonly Kind[]>>;

/** The name of a fault, which is a method of `simulator.faults`. */
export type FaultName = keyof typeof ARGUMENTS;

const WAYS: Readonly<Record<'way of a client?' | 'way of a server?', readonly string[]>> = {
  'way of a client?': ['to-server', 'to-client'],
  'way of a server?': ['to-leader', 'to-follower'],
};

/** Checks the arguments of faults against the servers and clients that exist. */
export class FaultArguments {
  readonly #simulation: Simulation;
  readonly #processes: ReadonlyMap<string, SimulatedProcess>;

  constructor(simulation: Simulation, processes: ReadonlyMap<string, SimulatedProcess>) {
    this.#simulation = simulation;
    this.#processes = processes;
  }

  /** @throws LockConfigurationError that names the fault, the argument and what was expected */
  check(fault: string, given: readonly unknown[]): void {
    const kinds: readonly Kind[] | undefined = Object.hasOwn(ARGUMENTS, fault)
      ? ARGUMENTS[fault as FaultName]
      : undefined;
    if (kinds === undefined) {
      throw new LockConfigurationError(
        `There is no fault ${describe(fault)}. The faults are: ${Object.keys(ARGUMENTS).join(', ')}`,
      );
    }
    if (given.length > kinds.length) refuse(fault, `takes ${kinds.length} argument(s), not ${given.length}`);
    kinds.forEach((kind, index) => {
      const mistake = this.#mistakeIn(kind, given[index]);
      if (mistake !== undefined) refuse(fault, mistake);
    });
  }

  /** @throws LockConfigurationError for a value that is no request; a handshake is none */
  checkRequest(where: string, kind: unknown): void {
    const mistake = kind === 'reattach' ? 'a handshake is no request' : this.#mistakeIn('request', kind);
    if (mistake !== undefined) refuse(where, mistake);
  }

  process(client: ClientReference): SimulatedProcess {
    const name = typeof client === 'string' ? client : client.name;
    const process = this.#processes.get(name);
    if (process === undefined) throw new LockConfigurationError(this.#unknownClient(client));
    return process;
  }

  #mistakeIn(kind: Kind, value: unknown): string | undefined {
    if (kind.endsWith('?') && value === undefined) return undefined;
    switch (kind) {
      case 'client':
        return this.#isClient(value) ? undefined : this.#unknownClient(value);
      case 'clients?':
        if (!Array.isArray(value)) return `the clients must be a list, not ${describe(value)}`;
        return value.map((one: unknown) => this.#mistakeIn('client', one)).find((mistake) => mistake !== undefined);
      case 'server':
        return this.#unknownServer(value);
      case 'request':
        if (typeof value === 'string' && Object.hasOwn(REQUESTS, value)) return undefined;
        return `there is no request ${describe(value)}: it is one of ${Object.keys(REQUESTS).join(', ')}`;
      case 'way of a client?':
      case 'way of a server?':
        if (WAYS[kind].includes(value as string)) return undefined;
        return `the direction must be ${WAYS[kind].map((way) => `'${way}'`).join(' or ')}, not ${describe(value)}`;
      case 'milliseconds':
      case 'milliseconds?':
        return isMilliseconds(value) ? undefined : `must be given a number of milliseconds, not ${describe(value)}`;
      case 'latency?':
        return isLatency(value) ? undefined : `the latency ${LATENCY_EXPECTED}, not ${describe(value)}`;
      case 'path':
        return typeof value === 'string' && value.startsWith('/')
          ? undefined
          : `must be given a path such as '/locks/a', not ${describe(value)}`;
      case 'number':
        return Number.isInteger(value) ? undefined : `must be given a whole number, not ${describe(value)}`;
    }
  }

  #isClient(value: unknown): boolean {
    const name: unknown = typeof value === 'object' && value !== null ? (value as { name?: unknown }).name : value;
    return typeof name === 'string' && this.#processes.has(name);
  }

  #unknownClient(value: unknown): string {
    const names = [...this.#processes.keys()].map((name) => `'${name}'`);
    const known = names.length === 0 ? 'there are none yet' : `there are: ${names.join(', ')}`;
    return `there is no client ${describe(value)}: make it by simulator.client(name) first (${known})`;
  }

  #unknownServer(value: unknown): string | undefined {
    const { serverCount } = this.#simulation.ensemble;
    if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= serverCount) return undefined;
    const known = serverCount === 1 ? 'the only one is 1 (servers: 3 makes three)' : `they are 1 to ${serverCount}`;
    return `there is no server ${describe(value)}: ${known}`;
  }
}

function refuse(fault: string, mistake: string): never {
  throw new LockConfigurationError(`${fault}: ${mistake}`);
}
