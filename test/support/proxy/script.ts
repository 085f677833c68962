import { Rule, type Nth, type RuleHandle } from './rule.js';
import {
  notificationMatcher,
  requestMatcher,
  type LoggedNotification,
  type LoggedRequest,
  type NotificationFilter,
  type RequestFilter,
} from './traffic-log.js';

/**
 * - `observe`: nothing, but `seen` tells when it passed.
 * - `holdRequest`: it waits before the server, and all behind it, until `release()`.
 * - `dropRequest`: the connection is cut before it reaches the server.
 * - `holdReply`: the server has done it; the reply, and all that is sent behind it, waits until `release()`.
 * - `loseReply`: the server has done it; the connection is cut before the reply reaches the client.
 * - `tearReply`: the client gets the first half of the reply's frame, then the connection is cut.
 * - `{ changeReply }`: the client gets another reply (xid, zxid and error are in its first 16 bytes).
 */
export type RequestAction =
  | 'observe'
  | 'holdRequest'
  | 'dropRequest'
  | 'holdReply'
  | 'loseReply'
  | 'tearReply'
  | { changeReply: (body: Buffer) => Buffer };

/** `hold`: it waits, and all behind it. `lose`: the connection is cut before it reaches the client. */
export type NotificationAction = 'observe' | 'hold' | 'lose';

export interface RequestRuleOptions extends RequestFilter {
  /** Counted from the call of `onRequest`, over all connections. @default 1 */
  nth?: Nth;
  action: RequestAction;
}

export interface NotificationRuleOptions extends NotificationFilter {
  /** Counted from the call of `onNotification`, over all connections. @default 1 */
  nth?: Nth;
  action: NotificationAction;
}

export type RequestRule = Rule<LoggedRequest, RequestAction>;
export type NotificationRule = Rule<LoggedNotification, NotificationAction>;

/** All that a test wants to happen on a proxy, apart from what happens to the link as a whole. */
export class Script {
  private readonly requestRules = new Set<RequestRule>();
  private readonly notificationRules = new Set<NotificationRule>();
  private readonly handshakeRules = new Set<Rule<bigint, 'expire'>>();

  onRequest({ nth = 1, action, ...filter }: RequestRuleOptions): RuleHandle<LoggedRequest> {
    const rule = new Rule<LoggedRequest, RequestAction>(action, requestMatcher(filter), nth);
    this.requestRules.add(rule);
    return rule;
  }

  onNotification({ nth = 1, action, ...filter }: NotificationRuleOptions): RuleHandle<LoggedNotification> {
    const rule = new Rule<LoggedNotification, NotificationAction>(action, notificationMatcher(filter), nth);
    this.notificationRules.add(rule);
    return rule;
  }

  onHandshake(fits: (sessionId: bigint) => boolean): RuleHandle<bigint> {
    const rule = new Rule<bigint, 'expire'>('expire', fits, 1);
    this.handshakeRules.add(rule);
    return rule;
  }

  /** Every rule counts; the first that wants to act does. */
  ruleFor(request: LoggedRequest): RequestRule | undefined {
    return [...this.requestRules].filter((rule) => rule.takes(request))[0];
  }

  ruleForNotification(notification: LoggedNotification): NotificationRule | undefined {
    return [...this.notificationRules].filter((rule) => rule.takes(notification))[0];
  }

  /** True when a handshake that offers `sessionId` is to be told that the session has expired. */
  takesHandshake(sessionId: bigint): boolean {
    const rule = [...this.handshakeRules].find((candidate) => candidate.takes(sessionId));
    rule?.happened(sessionId);
    return rule !== undefined;
  }

  releaseAll(): void {
    for (const rule of this.allRules()) rule.release();
    this.forget();
  }

  abandonAll(reason: Error): void {
    for (const rule of this.allRules()) rule.abandon(reason);
    this.forget();
  }

  private allRules(): { release(): void; abandon(reason: Error): void }[] {
    return [...this.requestRules, ...this.notificationRules, ...this.handshakeRules];
  }

  private forget(): void {
    this.requestRules.clear();
    this.notificationRules.clear();
    this.handshakeRules.clear();
  }
}
