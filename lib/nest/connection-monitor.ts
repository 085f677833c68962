import { setImmediate } from 'node:timers';
import { Logger } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { LockService } from '../engine/lock-service.js';
import { LockLostError, LockUnavailableError } from '../lock/errors.js';
import type { LockEvent } from '../lock/events.js';
import { inOneLine } from '../lock/shown.js';
import type { ResolvedOptions } from '../options.js';
import { EventLoopWatch } from './event-loop-watch.js';
import { countAsLogged } from './log-lock-error.js';
import { WaitingStart } from './waiting-start.js';

/** What is looked at of a lock service that has been opened. */
interface Monitored {
  readonly service: Pick<LockService, 'events$'>;
  readonly session: {
    readonly state$: Observable<LockService['connectionState']>;
    readonly roundInVain$: Observable<void>;
    readonly identity: { readonly timeoutMs: number } | undefined;
    describeFailures(): string;
  };
}

/** Tells the log what an operator should know; nothing that happens at every acquire. */
export class ConnectionMonitor {
  readonly #logger = new Logger('LockService');
  readonly #connection: string;
  readonly #options: ResolvedOptions;
  #loop: EventLoopWatch | undefined;
  #isLookingSoon = false;
  #hasToldOfDegradedLocks = false;
  #hasToldOfFailures = false;
  #hasJudgedWaitMs = false;
  #hasBeenUp = false;
  #start: WaitingStart | undefined;

  constructor(name: string, options: ResolvedOptions) {
    this.#connection = `Connection '${name}'`;
    this.#options = options;
  }

  watch({ service, session }: Monitored): void {
    session.state$.subscribe((state) => {
      if (state === 'lost' && !this.#hasBeenUp) this.#tellUnreached(session.describeFailures());
      else this.#tellState(state, session.identity?.timeoutMs);
      // Before a new watch takes the place of the one that has seen the block.
      this.#tellLag();
      if (state !== 'connected' && state !== 'reconnected') return;
      this.#hasBeenUp = true;
      this.#hasToldOfDegradedLocks = false;
      this.#hasToldOfFailures = false;
      if (session.identity !== undefined) this.#judge(session.identity.timeoutMs);
    });
    session.roundInVain$.subscribe(() => {
      if (this.#start === undefined) this.#tellUnreached(session.describeFailures());
      else this.#start.roundInVain();
    });
    service.events$.subscribe((event) => {
      this.#tellEvent(event);
      this.#tellLag();
      if (event.type === 'lost') this.#tellLagSoon();
    });
  }

  /** Once, at the start of the application: what works, and may not be what was meant. */
  judgeOptions(): void {
    const { auth, tls, isInMemory } = this.#options;
    if (isInMemory) return this.#tellNobodyIsExcluded();
    if (auth.length === 0 || tls !== undefined) return;
    this.#logger.warn(
      `${this.#connection}: auth is set and tls is not, so the password crosses the network unencrypted. Whoever listens has ` +
        "it: connect to the servers' secureClientPort with tls",
    );
  }

  #tellNobodyIsExcluded(): void {
    this.#logger.warn(
      `${this.#connection}: connect is '${this.#options.connect}', so locks are of this process alone: nobody else is excluded, ` +
        'not even another instance of this application. For anything but development and tests, name your ZooKeeper servers',
    );
  }

  /** The start of the application waits for the first connection, until the returned function is called. */
  startWaits({ session }: Monitored): () => void {
    const { connect, connectTimeoutMs } = this.#options;
    const start = new WaitingStart(connectTimeoutMs, (leftMs) => {
      this.#hasToldOfFailures = true;
      this.#logger.warn(
        `${this.#connection}: no ZooKeeper at ${connect} has answered yet (${session.describeFailures() || 'nothing was heard'}). ` +
          `The start of the application waits for it for another ${seconds(leftMs)} (connectTimeoutMs: ${connectTimeoutMs})`,
      );
    });
    this.#start = start;
    return () => {
      start.end();
      this.#start = undefined;
    };
  }

  startedWithoutZooKeeper(error: LockUnavailableError): void {
    this.#logger.warn(`${this.#connection}: starting without ZooKeeper (whenUnavailable: 'local'). ${error.details}`);
  }

  stop(): void {
    this.#loop?.stop();
  }

  #tellState(state: LockService['connectionState'], sessionTimeoutMs: number | undefined): void {
    const { connect, onSuspended } = this.#options;
    switch (state) {
      case 'connected':
      case 'reconnected':
        return this.#logger.log(`${this.#connection}: ${state} to ${connect}`);
      case 'suspended':
        return this.#logger.warn(
          `${this.#connection}: the link to ${connect} is down; held locks ` +
            (onSuspended === 'stop'
              ? "are lost now (onSuspended: 'stop')"
              : `are lost unless it is back in time, in less than ${sessionTimeoutMs ?? this.#options.sessionTimeoutMs} ms`),
        );
      case 'lost':
        return this.#logger.warn(
          `${this.#connection}: the session at ${connect} has ended, or may have (nothing was heard from the servers for a whole session time-out): ` +
            'its locks are lost',
        );
      case 'connecting':
      case 'closed':
        return this.#logger.debug(`${this.#connection}: ${state}`);
    }
  }

  /** Once, where the first connection is not made: callers and states tell of the same. */
  #tellUnreached(what: string): void {
    if (this.#hasBeenUp || this.#hasToldOfFailures) return;
    this.#hasToldOfFailures = true;
    const { connect } = this.#options;
    this.#logger.warn(
      `${this.#connection}: no ZooKeeper at ${connect} has answered yet (${what}). It is tried again and again; until then ` +
        'nobody gets a lock',
    );
  }

  #tellEvent(event: LockEvent): void {
    switch (event.type) {
      case 'lost':
        return this.#logger.warn(`${event.error.details}${by(event.label)}`);
      case 'late-result':
        if (hasObeyed(event)) return;
        return this.#logger.warn(
          `The work under the lock ${event.key}${by(event.label)} finished after the lock was lost: its effects may clash with the next holder's`,
        );
      case 'not-removed':
        return this.#logger.warn(`${this.#connection}: ${event.error.details}`);
      case 'degraded':
        return this.#tellDegraded(event);
      case 'requeued':
        return this.#logger.debug(
          `${event.key}${by(event.label)} waits again, from the end of the queue: ${event.reason}`,
        );
      case 'failed':
        return this.#tellFailed(event);
      case 'acquired':
        this.#hasToldOfFailures = false;
        return;
      case 'released':
        // Once or twice a call, and Nest's logger prints the level debug, too, unless told otherwise: `events$` has them.
        return;
    }
  }

  /** Once for each time that ZooKeeper is away: there may be thousands. */
  #tellDegraded({ key, label }: LockEvent): void {
    const text = `${this.#connection}: ZooKeeper cannot be reached, so ${key} is locked in this process only${by(label)}`;
    if (this.#hasToldOfDegradedLocks) return this.#logger.debug(text);
    this.#hasToldOfDegradedLocks = true;
    this.#logger.warn(`${text}. Until it is back, further locks like this are logged at debug level only`);
  }

  /** What the servers said, which no caller from outside is told; once for each time that ZooKeeper is away. */
  #tellFailed({ error, label }: Extract<LockEvent, { type: 'failed' }>): void {
    if (!(error instanceof LockUnavailableError) || this.#options.whenUnavailable === 'local') return;
    countAsLogged(error);
    if (this.#hasToldOfFailures) return;
    this.#hasToldOfFailures = true;
    const more = 'Further failures like this are not logged until a lock is taken again: each is an event "failed"';
    this.#logger.warn(`${this.#connection}: ${error.details}${by(label)}. ${more}`);
  }

  #judge(sessionTimeoutMs: number): void {
    this.#loop?.stop();
    this.#loop = new EventLoopWatch(sessionTimeoutMs);
    const { waitMs, serverTickMs } = this.#options;
    if (this.#hasJudgedWaitMs || waitMs >= sessionTimeoutMs + serverTickMs) return;
    this.#hasJudgedWaitMs = true;
    this.#logger.warn(
      `${this.#connection}: waitMs (${waitMs}) is less than the granted session time-out and a tick ` +
        `(${sessionTimeoutMs} + ${serverTickMs}): a call that waits for a crashed holder gives up before the lock is free`,
    );
  }

  /**
   * Who asks `isHeld()` behind a block learns of the loss before the loop has turned, and the watch with it. Its timer is
   * due in the turn between the two.
   */
  #tellLagSoon(): void {
    if (this.#isLookingSoon) return;
    this.#isLookingSoon = true;
    setImmediate(() =>
      setImmediate(() => {
        this.#isLookingSoon = false;
        this.#tellLag();
      }),
    );
  }

  #tellLag(): void {
    const lagMs = this.#loop?.takeNoticeableLagMs();
    if (lagMs === undefined) return;
    this.#logger.warn(
      `The event loop was blocked for ${Math.round(lagMs)} ms, a noticeable part of the session time-out: beyond that, all ` +
        'locks are lost. Look for synchronous work, long garbage collections, or a machine without CPU to spare',
    );
  }
}

/** Whether it stopped because of the loss: what ran failed with it, or as `node:` APIs do with the signal's reason. */
function hasObeyed({ key, error }: Extract<LockEvent, { type: 'late-result' }>): boolean {
  const { cause, reason } = (error ?? {}) as { readonly cause?: unknown; readonly reason?: unknown };
  const isAbort = (error as Partial<Error> | undefined)?.name === 'AbortError';
  return (isAbort ? [error, cause, reason] : [error]).some((one) => one instanceof LockLostError && one.key === key);
}

function by(label: string | undefined): string {
  return label === undefined ? '' : ` (${inOneLine(label)})`;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(1)} s`;
}
