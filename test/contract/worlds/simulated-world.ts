import { SessionClient } from '../../../lib/session/core/session-client.js';
import { Leader } from '../../../lib/session/simulator/server/leader.js';
import type { SimulatedProcess } from '../../../lib/session/simulator/simulated-process.js';
import { SimulatedWorld } from '../../support/simulation/simulated-world.js';
import { TappedDialer } from '../../support/sessions/tapped-dialer.js';
import { ContractClient } from './contract-client.js';
import type { ClientLink, ClientOptions, HarmableWorld, SentRequest } from './contract-world.js';
import { DEFAULTS } from './defaults.js';

const STEP_MS = 5;

export interface SimulatedWorldOptions {
  readonly servers: number;
  /** Lets chance decide what a real network leaves open. */
  readonly seed?: number;
  readonly chroot?: string;
}

/** The contract's world on the simulator, in virtual time. */
export class SimulatedContractWorld implements HarmableWorld {
  readonly tickMs = 500;
  readonly timeoutMs = 10_000;
  readonly shortTimeoutMs = 2_000;
  readonly isExact = true;
  readonly stalledMs = 0;
  readonly slackMs = 20;
  readonly #world: SimulatedWorld;
  readonly #chroot: string;
  readonly #processes = new Map<ContractClient, SimulatedProcess>();

  constructor({ servers, seed, chroot = '' }: SimulatedWorldOptions) {
    this.#chroot = chroot;
    this.#world = new SimulatedWorld({
      servers,
      tickMs: this.tickMs,
      syncLimitTicks: 10,
      initLimitTicks: 20,
      ...(seed === undefined ? {} : { seed }),
    });
  }

  get serverCount(): number {
    return this.#world.servers.length;
  }

  stalledLatelyMs(): number {
    return this.stalledMs;
  }

  now(): number {
    return this.#world.now();
  }

  pass(durationMs: number): Promise<void> {
    return this.#world.runFor(durationMs);
  }

  settle<T>(promise: Promise<T>, withinMs = 30_000): Promise<T> {
    return this.#world.settle(promise, withinMs);
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
    const endsAt = this.now() + withinMs;
    while (!(await isSo())) {
      if (this.now() >= endsAt) throw new Error(`Not within ${withinMs} ms of simulated time: ${what}`);
      await this.#world.runFor(STEP_MS);
    }
  }

  async open({ only, ...options }: ClientOptions = {}): Promise<ContractClient> {
    const process = this.#world.process(`client-${this.#processes.size + 1}`);
    const settings = {
      ...DEFAULTS,
      chroot: this.#chroot,
      sessionTimeoutMs: this.timeoutMs,
      serverTickMs: this.tickMs,
      clock: process.clock,
      random: process.random,
      ...options,
      servers: this.#world.servers.filter((_, index) => only === undefined || only.includes(index + 1)),
    };
    const dialer = new TappedDialer(process.dialer(settings.acl), () => this.now());
    const link = new SimulatedClientLink(this.#world, process, dialer);
    const client = new ContractClient(this, new SessionClient(settings, dialer), link);
    this.#processes.set(client, process);
    return client;
  }

  /** Each test has a world of its own. */
  async endTest(): Promise<void> {
    this.#world.faults.heal();
    for (const [client, process] of this.#processes) {
      this.#world.faults.pass(process);
      await this.settle(client.session.close());
    }
  }

  async roles(): Promise<{ leader: number; followers: number[] }> {
    await this.until('the ensemble is whole', () => this.#world.followerIds.length === this.serverCount - 1);
    const { leaderId, followerIds } = this.#world;
    if (leaderId === undefined) throw new Error('Nobody leads.');
    return { leader: leaderId, followers: followerIds };
  }

  async watchCount(): Promise<number> {
    return this.#world.watchCount;
  }

  async expire(client: ContractClient): Promise<void> {
    this.#world.faults.expire(client.identity.id);
  }

  isolate(server: number, clients: readonly ContractClient[]): void {
    const processes = clients.map((client) => this.#processes.get(client)).filter((process) => process !== undefined);
    this.#world.faults.isolate(server, processes);
  }

  async heal(): Promise<void> {
    this.#world.faults.heal();
    await this.roles();
  }

  async dropQuorum(): Promise<void> {
    this.#world.faults.dropQuorum();
  }

  async restoreQuorum(): Promise<void> {
    this.#world.faults.restoreQuorum();
    await this.until('somebody leads', () => this.#world.ensemble.leader?.role instanceof Leader);
  }

  async wipe(): Promise<void> {
    this.#world.faults.wipe();
  }
}

class SimulatedClientLink implements ClientLink {
  constructor(
    private readonly world: SimulatedWorld,
    private readonly process: SimulatedProcess,
    private readonly dialer: TappedDialer,
  ) {}

  cut(): void {
    this.world.faults.suspend(this.process);
  }

  async refuse(): Promise<void> {
    this.world.faults.refuse(this.process);
  }

  blackHole(direction?: 'to-server' | 'to-client'): void {
    this.world.faults.blackHole(this.process, direction);
  }

  async pass(): Promise<void> {
    this.world.faults.accept(this.process);
    this.world.faults.pass(this.process);
  }

  loseReplyOfNext(op: 'create' | 'delete' | 'set' | 'multi' | 'get'): void {
    this.world.faults.loseReplyOfNext(this.process, op);
  }

  losePartOfSetWatches(): void {
    this.dialer.willLosePartOfSetWatches = true;
  }

  lieAboutExpiry(): void {
    this.dialer.willLie = true;
  }

  sent(): readonly SentRequest[] {
    return this.dialer.sent;
  }
}
