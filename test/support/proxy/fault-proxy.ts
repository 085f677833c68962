import { ClientInspector } from './client-inspector.js';
import { blindInspector } from './inspector.js';
import { Link, type LinkOptions, type Traffic } from './link.js';
import { onFreePort } from './ports.js';
import type { RuleHandle } from './rule.js';
import { Script, type NotificationRuleOptions, type RequestRuleOptions } from './script.js';
import {
  countBy,
  notificationMatcher,
  requestMatcher,
  TrafficLog,
  type LoggedNotification,
  type LoggedRequest,
  type NotificationFilter,
  type RequestFilter,
} from './traffic-log.js';

export interface FaultProxyOptions extends LinkOptions {
  /** Bytes without meaning (TLS): the troubles of the link and its counts work, all that needs frames throws. @default false */
  raw?: boolean;
}

export interface ProxyCounts extends Traffic {
  /** By opcode; handshakes are `connect`. */
  requests: Record<string, number>;
  /** By type of event. */
  notifications: Record<string, number>;
  notificationsByPath: Record<string, number>;
}

/** A proxy between a ZooKeeper client and its server: a link with its troubles, and an eye for every frame. */
export class FaultProxy extends Link {
  private readonly log: TrafficLog;
  private readonly script: Script;
  private readonly raw: boolean;

  constructor(port: number, options: FaultProxyOptions) {
    const log = new TrafficLog();
    const script = new Script();
    const raw = options.raw === true;
    super(port, options, raw ? blindInspector : (controls) => new ClientInspector(controls, log, script));
    this.log = log;
    this.script = script;
    this.raw = raw;
  }

  /** Wants something to happen to a request or its reply. The handshake is opcode `connect`. */
  onRequest(options: RequestRuleOptions): RuleHandle<LoggedRequest> {
    this.needFrames('onRequest');
    return this.script.onRequest(options);
  }

  /** Wants something to happen to a notification (the event of a watch). */
  onNotification(options: NotificationRuleOptions): RuleHandle<LoggedNotification> {
    this.needFrames('onNotification');
    return this.script.onNotification(options);
  }

  /**
   * Tells the next client that offers a session (this one, or any) that it has expired, and closes. The server is not asked,
   * so the session lives on there. `seen` gives the session's id.
   */
  expireNextHandshake(sessionId?: bigint): RuleHandle<bigint> {
    this.needFrames('expireNextHandshake');
    return this.script.onHandshake((offered) => offered !== 0n && (sessionId === undefined || offered === sessionId));
  }

  /** Lets go all that rules hold, and forgets the rules. */
  releaseRules(): void {
    this.script.releaseAll();
  }

  /** Requests in the order in which they came from the clients, delivered or not. */
  requests(filter: RequestFilter = {}): LoggedRequest[] {
    this.needFrames('requests');
    return this.log.requests.filter(requestMatcher(filter));
  }

  /** Notifications in the order in which they came from the server, delivered or not. */
  notifications(filter: NotificationFilter = {}): LoggedNotification[] {
    this.needFrames('notifications');
    return this.log.notifications.filter(notificationMatcher(filter));
  }

  override counts(): ProxyCounts {
    return {
      ...super.counts(),
      requests: countBy(this.log.requests, (request) => request.opcode),
      notifications: countBy(this.log.notifications, (notification) => notification.type),
      notificationsByPath: countBy(this.log.notifications, (notification) => notification.path),
    };
  }

  override resetCounts(): void {
    super.resetCounts();
    this.log.clear();
  }

  override async stop(): Promise<void> {
    this.script.abandonAll(new Error('The proxy was stopped before that happened.'));
    await super.stop();
  }

  private needFrames(what: string): void {
    if (this.raw) throw new Error(`${what} needs frames, and this proxy was started with raw: true.`);
  }
}

/** Starts a proxy on a port of its own; put its `connect` where the server's would be. */
export async function startProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  return onFreePort(options.port, async (port) => {
    const proxy = new FaultProxy(port, options);
    await proxy.listen();
    return proxy;
  });
}
