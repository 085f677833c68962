import { performance } from 'node:perf_hooks';
import { clearInterval, setImmediate, setInterval } from 'node:timers';
import { Logger } from '@nestjs/common';
import type { LockService } from '../engine/lock-service.js';
import { LockLostError, LockUnavailableError } from '../lock/errors.js';
import type { LockEvent } from '../lock/events.js';
import { visible } from '../lock/visible.js';
import type { OpenedLockService } from '../open.js';
import type { ResolvedOptions } from '../options.js';
import { EventLoopWatch } from './event-loop-watch.js';
import { describeAlert, LockAlerts } from './lock-alerts.js';
import { countAsLogged } from './log-lock-error.js';

/** A person who watches a start must see that it goes on, and wants no more lines than that. */
const START_GOES_ON_EVERY_MS = 5_000;

/** Tells the log what an operator should know, but nothing that happens at every acquire. */
export class ConnectionMonitor {
  readonly #logger = new Logger('LockService');
  readonly #connection: string;
  readonly #options: ResolvedOptions;
  #loop: EventLoopWatch | undefined;
  #alerts: LockAlerts | undefined;
  #hasBeenUp = false;
  /** What was told and is not told again: of failures and of degraded locks, until the connection is up again. */
  readonly #told = new Set<'failures' | 'degraded' | 'waitMs'>();
  /** Hears of rounds in vain while the start of the application waits for the first connection. */
  #onRoundOfStart: (() => void) | undefined;

  constructor(name: string, options: ResolvedOptions) {
    this.#connection = `Connection '${name}'`;
    this.#options = options;
  }

  watch({ service, session }: OpenedLockService): void {
    session.state$.subscribe((state) => {
      if (state === 'lost' && !this.#hasBeenUp) this.#tellUnreached(session.describeFailures());
      else this.#tellState(state, session.identity?.timeoutMs);
      // The lag is told before a new watch takes the place of the one that has seen the block.
      this.#tellLag();
      if (state !== 'connected' && state !== 'reconnected') return;
      this.#hasBeenUp = true;
      this.#told.delete('degraded');
      this.#told.delete('failures');
      if (session.identity !== undefined) this.#judge(session.identity.timeoutMs);
    });
    session.roundInVain$.subscribe(() => {
      if (this.#onRoundOfStart === undefined) this.#tellUnreached(session.describeFailures());
      else this.#onRoundOfStart();
    });
    const { alerts } = this.#options;
    if (alerts !== false)
      this.#alerts = new LockAlerts(
        alerts,
        () => service.query(),
        (alert) => this.#warn(describeAlert(alert)),
      );
    service.events$.subscribe((event) => {
      this.#tellEvent(event);
      this.#alerts?.onEvent(event);
      this.#tellLag();
      if (event.type === 'lost') this.#tellLagSoon();
    });
  }

  /** Warns once, at the start of the application, of options that work and may not be what was meant. */
  judgeOptions(): void {
    const { connect, auth, tls, isInMemory } = this.#options;
    if (isInMemory) {
      this.#warn(
        `connect is '${connect}', so locks are of this process alone: nobody else is excluded, not even another instance of ` +
          'this application. For anything but development and tests, name your ZooKeeper servers',
      );
    } else if (auth.length > 0 && tls === undefined) {
      this.#warn(
        'auth is set and tls is not, so the password crosses the network unencrypted. Whoever listens has ' +
          "it: connect to the servers' secureClientPort with tls",
      );
    } else if (typeof tls === 'object' && tls.rejectUnauthorized === false) {
      this.#warn(
        'tls.rejectUnauthorized is false, so nobody checks whether these are your servers. Whoever is on the way can pass for ' +
          'them, read the credentials, and make two holders: give ca instead',
      );
    }
  }

  /** Call it when the start of the application begins to wait for the first connection, and the returned function at its end. */
  startWaits({ session }: OpenedLockService): () => void {
    const { connect, connectTimeoutMs } = this.#options;
    const endsAt = performance.now() + connectTimeoutMs;
    const tell = (): void => {
      // The first round is told, and after it only that the start goes on.
      this.#onRoundOfStart = () => undefined;
      const leftMs = Math.max(0, endsAt - performance.now());
      const heard = session.describeFailures() || 'nothing was heard';
      this.#told.add('failures');
      this.#warn(
        `no ZooKeeper at ${connect} has answered yet (${heard}). The start of the application waits for it for another ` +
          `${(leftMs / 1_000).toFixed(1)} s (connectTimeoutMs: ${connectTimeoutMs})`,
      );
    };
    // Servers that neither accept nor refuse make the first round long, so the timer does not wait for its end.
    const timer = setInterval(tell, START_GOES_ON_EVERY_MS);
    this.#onRoundOfStart = () => {
      tell();
      timer.refresh();
    };
    return () => {
      clearInterval(timer);
      this.#onRoundOfStart = undefined;
    };
  }

  startedWithoutZooKeeper(error: LockUnavailableError): void {
    this.#warn(`starting without ZooKeeper (whenUnavailable: 'local'). ${error.details}`);
  }

  stop(): void {
    this.#loop?.stop();
    this.#alerts?.stop();
  }

  #tellState(state: LockService['connectionState'], sessionTimeoutMs: number | undefined): void {
    const { connect, onSuspended } = this.#options;
    switch (state) {
      case 'connected':
      case 'reconnected':
        return this.#logger.log(`${this.#connection}: ${state} to ${connect}`);
      case 'suspended':
        return this.#warn(
          `the link to ${connect} is down; held locks ` +
            (onSuspended === 'stop'
              ? "are lost now (onSuspended: 'stop')"
              : `are lost unless it is back in time, in less than ${sessionTimeoutMs ?? this.#options.sessionTimeoutMs} ms`),
        );
      case 'lost':
        return this.#warn(
          `the session at ${connect} has ended, or may have (nothing was heard from the servers for a whole session time-out): ` +
            'its locks are lost',
        );
      case 'connecting':
      case 'closed':
        return this.#logger.debug(`${this.#connection}: ${state}`);
    }
  }

  /** Tells once that the first connection is not made. */
  #tellUnreached(what: string): void {
    if (this.#hasBeenUp) return;
    // The state of the session and each call that fails say so, and one line is enough.
    this.#warnOnce(
      'failures',
      `no ZooKeeper at ${this.#options.connect} has answered yet (${what}). It is tried again and again; until then nobody gets ` +
        'a lock',
    );
  }

  #tellEvent(event: LockEvent): void {
    switch (event.type) {
      case 'lost':
        return this.#logger.warn(`${event.error.details}${by(event.label)}`);
      case 'late-result':
        if (hasObeyed(event)) return;
        return this.#logger.warn(
          `The work under the lock ${visible(event.key)}${by(event.label)} finished after the lock was lost: its effects may clash with the next holder's`,
        );
      case 'not-removed':
        return this.#warn(event.error.details);
      case 'abandoned':
        return this.#logger.warn(describeAbandoned(event));
      case 'degraded':
        return this.#tellDegraded(event);
      case 'requeued':
        return this.#logger.debug(
          `${visible(event.key)}${by(event.label)} waits again, from the end of the queue: ${event.reason}`,
        );
      case 'failed':
        return this.#tellFailed(event);
      case 'acquired':
        return void this.#told.delete('failures');
      case 'released':
        // They come once or twice a call, and Nest's logger prints the level debug, too, by default. `events$` has them.
        return;
    }
  }

  /** Warns once for each time that ZooKeeper is away. */
  #tellDegraded({ key, label }: LockEvent): void {
    const text = `ZooKeeper cannot be reached, so ${visible(key)} is locked in this process only${by(label)}`;
    // There may be thousands of such locks until ZooKeeper is back.
    if (this.#told.has('degraded')) return this.#logger.debug(`${this.#connection}: ${text}`);
    this.#warnOnce('degraded', `${text}. Until it is back, further locks like this are logged at debug level only`);
  }

  /** Tells what the servers said, which callers from outside are not told; once for each time that ZooKeeper is away. */
  #tellFailed({ error, label }: Extract<LockEvent, { type: 'failed' }>): void {
    if (!(error instanceof LockUnavailableError) || this.#options.whenUnavailable === 'local') return;
    countAsLogged(error);
    const more = 'Further failures like this are not logged until a lock is acquired again: each is an event "failed"';
    this.#warnOnce('failures', `${error.details}${by(label)}. ${more}`);
  }

  #judge(sessionTimeoutMs: number): void {
    this.#loop?.stop();
    this.#loop = new EventLoopWatch(sessionTimeoutMs);
    const { waitMs, serverTickMs } = this.#options;
    if (waitMs >= sessionTimeoutMs + serverTickMs) return;
    this.#warnOnce(
      'waitMs',
      `waitMs (${waitMs}) is less than the granted session time-out and a tick (${sessionTimeoutMs} + ${serverTickMs}): a call ` +
        'that waits for a crashed holder gives up before the lock is free',
    );
  }

  #tellLagSoon(): void {
    // A caller that asks `isHeld()` behind a block finds the loss before the event loop has turned, and so before the timer of
    // the watch has measured the block. That timer runs within two turns.
    setImmediate(() => setImmediate(() => this.#tellLag()));
  }

  #tellLag(): void {
    const lagMs = this.#loop?.takeNoticeableLagMs();
    if (lagMs === undefined) return;
    this.#logger.warn(
      `The event loop was blocked for ${Math.round(lagMs)} ms, a noticeable part of the session time-out: beyond that, all ` +
        'locks are lost. Look for synchronous work, long garbage collections, or a machine without CPU to spare',
    );
  }

  #warnOnce(subject: 'failures' | 'degraded' | 'waitMs', text: string): void {
    if (this.#told.has(subject)) return;
    this.#told.add(subject);
    this.#warn(text);
  }

  #warn(text: string): void {
    this.#logger.warn(`${this.#connection}: ${text}`);
  }
}

/** Whether the work stopped because of the loss: it failed with the loss itself, or with the AbortError of a `node:` API. */
function hasObeyed({ key, error }: Extract<LockEvent, { type: 'late-result' }>): boolean {
  const { cause, reason } = (error ?? {}) as { readonly cause?: unknown; readonly reason?: unknown };
  const isAbort = (error as Partial<Error> | undefined)?.name === 'AbortError';
  return (isAbort ? [error, cause, reason] : [error]).some((one) => one instanceof LockLostError && one.key === key);
}

function by(label: string | undefined): string {
  return label === undefined ? '' : ` (${visible(label)})`;
}

function describeAbandoned({ key, label, abandoned }: Extract<LockEvent, { type: 'abandoned' }>): string {
  const { host = 'an unknown host', pid = 'unknown', token } = abandoned;
  const who = `a holder that vanished inside${by(abandoned.label)}: ${visible(host)}, pid ${pid}, token ${token}`;
  return `The lock ${visible(key)} was acquired${by(label)} after ${who}`;
}
