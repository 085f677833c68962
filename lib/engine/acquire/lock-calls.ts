import { type AcquireOptions, checkAcquireOptions } from '../../lock/acquire-options.js';
import { Deadline } from '../../lock/deadline.js';
import { LockClosedError, LockUnavailableError } from '../../lock/errors.js';
import type { LockHandle, LockScope } from '../../lock/handle.js';
import { nativeRefusal } from '../../session/native-limits.js';
import type { Session } from '../../session/session.js';
import { busyError, type CallScope, type CallScopes } from '../bounds/call-scope.js';
import { callerOf, findReentry, type Identifiers, type LockEvents, type OwnedLock } from '../bounds/owner-context.js';
import { type Asked, factsOf, type LockRequest } from '../contender.js';
import type { Hold } from '../hold/hold.js';
import { recover } from '../hold/recovery.js';
import { checkKey } from '../key.js';
import { beginAcquire, endAcquire, failAcquire, traceHold } from '../traces.js';
import type { Janitor } from '../upkeep/janitor.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { Acquire } from './acquire.js';
import { Busy, type RecordRules } from './obstacles.js';

export type AcquiredLock = OwnedLock<Hold>;

/** The facts of a call besides its key and its options. */
export interface Call {
  /** The lock service that is asked: the locks around the caller belong to services. */
  readonly service: object;
  readonly deadline: Deadline;
  /** @default that of the locks around the caller, or a new one */
  readonly owner?: string;
  /** Aborts when the group of locks that this one was for is over. Its reason is the `LockError` that ends the wait. */
  readonly end?: AbortSignal;
  /** Lets something else end the wait, too, by adding it to the scope. */
  readonly limit?: ((scope: CallScope) => void) | undefined;
}

/** Locks of this process alone, for calls that find ZooKeeper away. */
export interface StandIn {
  /** Ends a wait for ZooKeeper while there is still time for the lock that stands in. */
  limit(scope: CallScope): void;
  /** Tells the application that another lock stands in. @returns the calls for that lock */
  degrade(request: LockRequest): LockCalls;
}

export interface LockCallsParts {
  /** The name of the lock service on its channels. */
  readonly connection: string;
  readonly scope: LockScope;
  readonly acquire: Acquire;
  readonly scopes: CallScopes;
  readonly session: Session;
  readonly link: LinkState;
  readonly janitor: Janitor;
  readonly events: LockEvents;
  readonly identifiers: Identifiers;
  readonly records: RecordRules;
  readonly standIn: StandIn | undefined;
  readonly namespace: string;
  readonly waitMs: number;
  readonly connectTimeoutMs: number;
}

/** The calls of an application for a lock: what can be checked before any I/O, re-entry, the deadline, the lock that stands in. */
export class LockCalls {
  readonly #parts: LockCallsParts;
  #isRefusing = false;

  constructor(parts: LockCallsParts) {
    this.#parts = parts;
  }

  /** Waits for the lock, or re-enters the one around the caller. */
  async acquire(key: string, options: AcquireOptions, call: Call): Promise<AcquiredLock> {
    const { waitMs, acquire, standIn } = this.#parts;
    // To wait for no time at all is to try once: the deadline is for ZooKeeper's answer then.
    if ((options.waitMs ?? waitMs) === 0) {
      const acquired = await this.tryAcquire(key, options, call);
      if (!(acquired instanceof Busy)) return acquired;
      const error = busyError(key, call.deadline, acquired.holder);
      this.#report(this.#asked(key, options, call), error, call.deadline, 'busy');
      throw error;
    }
    const around = this.#around(key, options, call);
    if (around !== undefined) return this.#reenter(around, call, options);
    const request = this.#build(key, options, call);
    const connected = this.firstConnectionToAcquire(key, options, call);
    if (connected !== undefined) await this.#tracingFailure(request, connected, call);
    try {
      const scope = this.#openScope(request, call);
      let hold: Hold;
      // A function that runs its argument inside the scope would add turns of promises to each call.
      try {
        this.#limit(scope, request, call);
        hold = await acquire.acquire(request, scope);
      } finally {
        scope.dispose();
      }
      const lock = this.#begin(hold, call);
      return lock instanceof Promise ? await lock : lock;
    } catch (error) {
      await this.#failed(request, error as Error, call);
      // Nothing stands in where the record of the key is to be heard before anybody enters.
      if (standIn === undefined || request.usesRecord || !(error instanceof LockUnavailableError)) throw error;
      return standIn.degrade(request).acquire(key, options, call);
    }
  }

  /** @returns Busy when somebody is in the way */
  async tryAcquire(key: string, options: AcquireOptions, call: Call): Promise<AcquiredLock | Busy> {
    const { acquire, standIn, janitor } = this.#parts;
    const around = this.#around(key, options, call);
    if (around !== undefined) return this.#reenter(around, call, options);
    const request = this.#build(key, options, call);
    try {
      const scope = this.#openScope(request, call);
      let hold: Hold | Busy;
      try {
        this.#limit(scope, request, call);
        hold = await acquire.tryAcquire(request, scope);
      } finally {
        scope.dispose();
      }
      if (hold instanceof Busy) {
        if (request.trace !== undefined) endAcquire(request.trace, 'busy', sinceAskedMs(request, call));
        await janitor.removalsSent();
        return hold;
      }
      return await this.#begin(hold, call);
    } catch (error) {
      await this.#failed(request, error as Error, call);
      if (standIn === undefined || request.usesRecord || !(error instanceof LockUnavailableError)) throw error;
      return standIn.degrade(request).tryAcquire(key, options, call);
    }
  }

  /**
   * Waits for the connection that is being made for the first time. It has a time of its own, after which that of the call begins.
   * @returns undefined for a call that need not wait for it
   */
  firstConnection(key: string, options: AcquireOptions, call: Call): Promise<void> | undefined {
    const { link, waitMs, connectTimeoutMs, standIn } = this.#parts;
    // A call that says how long it waits, or tries once, does so connected or not. Where a lock stands in, the call waits for the
    // first connection as for any other.
    if (standIn !== undefined || options.waitMs !== undefined || waitMs === 0) return undefined;
    const leftMs = link.firstConnectionMs(connectTimeoutMs);
    if (leftMs === 0) return undefined;
    // The call has at least its own time, though little may be left of that of the connection.
    const deadline = Deadline.after(call.deadline.clock, Math.max(leftMs, call.deadline.remainingMs()));
    return this.#awaitFirstConnection(key, options, call, deadline);
  }

  async #awaitFirstConnection(key: string, options: AcquireOptions, call: Call, deadline: Deadline): Promise<void> {
    const { scopes, link } = this.#parts;
    await scopes.run(key, deadline, { signal: options.signal, end: call.end }, (scope) => link.whenUp(scope));
    call.deadline.putOff(deadline.startedAt);
  }

  /** Does what `firstConnection` does for a call that is to acquire a lock, whose failure is an event. */
  firstConnectionToAcquire(key: string, options: AcquireOptions, call: Call): Promise<void> | undefined {
    const connected = this.firstConnection(key, options, call);
    if (connected === undefined) return undefined;
    const askedAt = Deadline.after(call.deadline.clock, 0);
    return connected.catch((error: unknown) => {
      this.#report(this.#asked(key, options, call), error as Error, askedAt);
      throw error;
    });
  }

  /** Checks everything that can be checked before any I/O. @returns where the key's contenders queue */
  check(key: string, options: AcquireOptions): string {
    this.#checkOptions(key, options);
    if (this.#isRefusing) throw closedError();
    return this.#parts.namespace + key;
  }

  #checkOptions(key: string, options: AcquireOptions): void {
    checkKey(key);
    checkAcquireOptions(options, key);
    this.#parts.records.checkOptions(options, key);
    if (this.#parts.session.hasMultis) return;
    if (options.mode === 'upgradeable') throw nativeRefusal('upgradeable', key);
    for (const name of ['onAbandoned', 'atLeastMs'] as const)
      if (options[name] !== undefined) throw nativeRefusal(name, key);
  }

  /** From now on every new request and everybody who waits is told that the service is closing; holders go on. */
  refuse(): void {
    this.#isRefusing = true;
    this.#parts.scopes.endAll(closedError);
  }

  /** @returns what the caller must dispose of */
  #openScope({ key, options }: LockRequest, { deadline, end }: Call): CallScope {
    return this.#parts.scopes.open(key, deadline, { signal: options.signal, end });
  }

  /** Lets something else end the wait, too, by adding it to the scope. */
  #limit(scope: CallScope, request: LockRequest, { limit }: Call): void {
    scope.request = request;
    limit?.(scope);
    if (!request.usesRecord) this.#parts.standIn?.limit(scope);
  }

  #build(key: string, options: AcquireOptions, call: Call): LockRequest {
    if (this.#isRefusing) throw closedError();
    const { namespace, records, connection } = this.#parts;
    const asked = this.#asked(key, options, call);
    // Members are named one by one, as to spread an object takes longer than all else that is done here.
    return {
      key,
      options,
      mode: asked.mode,
      owner: asked.owner,
      queuePath: namespace + key,
      askedAt: call.deadline.clock.now(),
      usesRecord: records.isUsedBy(options),
      trace: beginAcquire(connection, asked),
    };
  }

  #asked(key: string, options: AcquireOptions, { owner = callerOf(this.#parts.identifiers) }: Call): Asked {
    return { key, options, mode: options.mode ?? 'exclusive', owner };
  }

  /** The call has its lock, once what a holder that vanished has left is repaired. */
  #begin(hold: Hold, call: Call): AcquiredLock | Promise<AcquiredLock> {
    const lock = { hold, handle: hold.newHandle() };
    traceHold(this.#parts.connection, this.#parts.scope, hold);
    if (hold.abandoned === undefined) return this.#traced(lock, call);
    return recover(lock, hold.request.options, call.service, this.#parts).then(() => this.#traced(lock, call));
  }

  #traced(lock: AcquiredLock, call: Call): AcquiredLock {
    const { request } = lock.hold;
    if (request.trace === undefined) return lock;
    request.trace.token = lock.hold.tokenText;
    endAcquire(request.trace, 'acquired', sinceAskedMs(request, call));
    return lock;
  }

  /** The lock around the caller. It may be re-entered to the end, also while the service refuses new requests. */
  #around(key: string, options: AcquireOptions, { service }: Call): AcquiredLock | undefined {
    this.#checkOptions(key, options);
    return findReentry<Hold>(service, key, options.mode ?? 'exclusive', options);
  }

  /** Makes another handle on a lock around the caller; waits for proof that it is held while the link is down. */
  async #reenter({ hold }: AcquiredLock, call: Call, options: AcquireOptions): Promise<AcquiredLock> {
    const { signal, leaseMs } = options;
    const handle: LockHandle = hold.newHandle();
    const { scopes } = this.#parts;
    try {
      await scopes.run(handle.key, call.deadline, { signal, end: call.end }, (scope) => scope.guard(handle.whenSure()));
      if (leaseMs !== undefined) hold.lease(handle, leaseMs);
      return { hold, handle };
    } catch (error) {
      void handle.release();
      this.#report(this.#asked(handle.key, options, call), error as Error, call.deadline);
      throw error;
    }
  }

  async #tracingFailure(request: LockRequest, connected: Promise<void>, call: Call): Promise<void> {
    try {
      await connected;
    } catch (error) {
      if (request.trace !== undefined) failAcquire(request.trace, error, sinceAskedMs(request, call));
      throw error;
    }
  }

  async #failed(request: LockRequest, error: Error, call: Call): Promise<void> {
    if (request.trace !== undefined) failAcquire(request.trace, error, sinceAskedMs(request, call));
    // The removal of what the call leaves behind is on its way before the caller is told, which may end the process then.
    await this.#parts.janitor.removalsSent();
    this.#report(request, error, call.deadline);
  }

  #report(asked: Asked, error: Error, deadline: Deadline, outcome?: 'busy'): void {
    const waitedMs = Math.round(deadline.elapsedMs());
    this.#parts.events.next({ ...factsOf(asked), type: 'failed', error, waitedMs, busy: outcome === 'busy' });
  }
}

function sinceAskedMs({ askedAt }: LockRequest, { deadline }: Call): number {
  return deadline.clock.now() - askedAt;
}

function closedError(): LockClosedError {
  return new LockClosedError('The lock service is closing, or closed: the application shuts down');
}
