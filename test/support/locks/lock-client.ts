import { filter, firstValueFrom } from 'rxjs';
import type { ZookeeperLockService } from '../../../lib/engine/zookeeper-lock-service.js';
import type { LockEvent } from '../../../lib/lock/events.js';
import { openLockService } from '../../../lib/open.js';
import type { DistributedLockOptions } from '../../../lib/options.js';
import { resolveOptions } from '../../../lib/resolve-options.js';
import { type ConnectionState, isUp } from '../../../lib/session/connection-state.js';
import { eventually, within } from '../process/eventually.js';
import type { FaultProxy } from '../proxy/fault-proxy.js';
import type { RuleHandle } from '../proxy/rule.js';
import type { RequestRuleOptions } from '../proxy/script.js';
import type { LoggedNotification, LoggedRequest, NotificationFilter, RequestFilter } from '../proxy/traffic-log.js';

export type EventOf<T extends LockEvent['type']> = Extract<LockEvent, { type: T }>;

/** What the session does for itself, by itself: no part of what a lock costs. */
const HOUSEKEEPING = new Set<string>(['connect', 'ping', 'auth', 'setWatches', 'setWatches2', 'closeSession']);

/** One lock service, with a proxy of its own before each server: the same trouble on all of them. */
export class LockClient {
  readonly service: ZookeeperLockService;
  readonly events: LockEvent[] = [];

  constructor(
    readonly proxies: readonly FaultProxy[],
    options: Omit<DistributedLockOptions, 'connect'>,
  ) {
    const connect = proxies.map((proxy) => proxy.connect).join(',');
    this.service = openLockService(resolveOptions({ ...options, connect })).service;
    this.service.events$.subscribe((event) => this.events.push(event));
  }

  /** Where there is one server. */
  get proxy(): FaultProxy {
    const [proxy] = this.proxies;
    if (proxy === undefined || this.proxies.length > 1) throw new Error('Which of the proxies?');
    return proxy;
  }

  async untilUp(withinMs = 15_000): Promise<void> {
    await this.untilState(isUp, withinMs);
  }

  async untilState(isIt: (state: ConnectionState) => boolean, withinMs = 15_000): Promise<void> {
    const { connectionState$ } = this.service;
    await within(
      withinMs,
      `another state than ${this.service.connectionState}`,
      firstValueFrom(connectionState$.pipe(filter(isIt))),
    );
  }

  eventsOf<T extends LockEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  cut(): void {
    for (const proxy of this.proxies) proxy.cut();
  }

  /** No way to any server; those that exist end. */
  async refuse(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.refuse()));
    this.cut();
  }

  blackHole(): void {
    for (const proxy of this.proxies) proxy.swallow('both');
  }

  async pass(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.pass()));
  }

  /** Cuts the link, and has the next handshake told that the session has expired, while the server keeps it. */
  async lieAboutExpiry(): Promise<void> {
    const rules = this.proxies.map((proxy) => proxy.expireNextHandshake());
    this.cut();
    await within(10_000, 'the lie is told', Promise.race(rules.map(({ seen }) => seen)));
    for (const rule of rules) rule.release();
  }

  onRequest(options: RequestRuleOptions): RuleHandle<LoggedRequest> {
    return this.proxy.onRequest(options);
  }

  /** What was asked for locks since the last `resetCounts`, in order; without the session's own pings and heartbeats. */
  requests(wanted: RequestFilter = {}): LoggedRequest[] {
    return this.proxies
      .flatMap((proxy) => proxy.requests(wanted))
      .filter(({ opcode, path }) => !HOUSEKEEPING.has(opcode) && path?.includes('/.sessions') !== true)
      .sort((one, other) => one.at - other.at);
  }

  opcodes(): string[] {
    return this.requests().map(({ opcode }) => opcode);
  }

  /** Resolves when that many requests for locks were sent since the last `resetCounts`, and all are answered. */
  async untilAnswered(count: number): Promise<void> {
    const areAnswered = (): boolean => {
      const requests = this.requests();
      return requests.length >= count && requests.every(({ reply }) => reply !== undefined);
    };
    const explain = (): string => `There were ${this.opcodes().join(', ') || 'none'}.`;
    await eventually(`${count} requests are answered`, areAnswered, { everyMs: 5, explain });
  }

  /** Resolves when that many watches on nodes were set since the last `resetCounts`. */
  async untilWatching(count: number): Promise<void> {
    const isWatching = (): boolean =>
      this.requests().filter(({ opcode, reply }) => opcode === 'getData' && reply !== undefined).length >= count;
    await eventually(`${count} watches are set`, isWatching, { everyMs: 5, explain: () => this.opcodes().join(', ') });
  }

  heartbeats(): LoggedRequest[] {
    return this.proxies.flatMap((proxy) => proxy.requests({ path: /\/\.sessions/ }));
  }

  notifications(wanted: NotificationFilter = {}): LoggedNotification[] {
    return this.proxies.flatMap((proxy) => proxy.notifications(wanted)).sort((one, other) => one.at - other.at);
  }

  resetCounts(): void {
    for (const proxy of this.proxies) proxy.resetCounts();
  }

  /** Resolves when the next heartbeat write has been answered. */
  async untilHeartbeat(withinMs = 10_000): Promise<void> {
    const before = this.heartbeats().length;
    const areAnswered = (): boolean => {
      const sent = this.heartbeats().slice(before);
      // The first one makes parents, whose answers prove nothing.
      return sent.length > 0 && sent.every(({ reply }) => reply !== undefined);
    };
    await eventually('a heartbeat is answered', areAnswered, { withinMs, everyMs: 5 });
    // Answers come in order: with this one the client has read the others.
    await this.service.inspect('/until/heartbeat');
  }

  /** Of the session that it has now. */
  sessionId(): bigint {
    const welcomes = this.proxies.flatMap((proxy) => proxy.requests({ opcode: 'connect' }));
    const id = welcomes.sort((one, other) => one.at - other.at).findLast(({ reply }) => reply !== undefined)?.sessionId;
    if (id === undefined) throw new Error('No session has been opened yet.');
    return id;
  }

  connections(): number {
    return this.proxies.reduce((sum, proxy) => sum + proxy.counts().connections, 0);
  }

  /** Ends the service on a link without trouble, then the proxies. */
  async end(): Promise<void> {
    for (const proxy of this.proxies) proxy.releaseRules();
    await this.pass();
    await this.service.close(0);
    // Ends what the service left half closed: such a connection must not be reset, as `stop` would.
    this.cut();
    await Promise.all(this.proxies.map((proxy) => proxy.stop()));
  }
}
