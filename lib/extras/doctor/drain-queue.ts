import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import type { AsJson, JsonOf } from '../../lock/json.js';
import { decodeIntervention, DRAIN_MARKER, encodeIntervention, type Intervention } from '../../queue/intervention.js';
import { type Waiter, waitersIn } from '../../queue/waiters.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { type PatientLink, refusal } from '../../session/patient-link.js';
import { check, create, multi, remove, set } from '../../session/requests.js';
import type { StepOptions } from './doctor-options.js';
import { listNames, namesIn } from './queue-look.js';

export interface DrainOptions extends StepOptions {
  /**
   * The waiters have this long to learn of it, in milliseconds, a reconnect included. One that learns later queues again,
   * at the end. @default 5000
   */
  readonly graceMs?: number;
}

export interface DrainFacts {
  readonly key: string;
  /** The drain ended this many waits. */
  readonly removed: number;
}

/** Tells what became of a queue that was drained. `JSON.stringify` accepts it. */
export interface DrainResult extends DrainFacts, AsJson<JsonOf<DrainFacts>> {}

/** At most this many removals are sent together. */
const AT_ONCE = 500;

/** Ends all waits of one queue, and leaves those alone who hold the lock. */
export class DrainedQueue {
  readonly #link: PatientLink;
  readonly #key: string;
  readonly #queuePath: string;
  readonly #marker: string;

  constructor(link: PatientLink, key: string, queuePath: string) {
    this.#link = link;
    this.#key = key;
    this.#queuePath = queuePath;
    this.#marker = `${queuePath}/${DRAIN_MARKER}`;
  }

  /** @returns how many waits were ended */
  async end(drain: Intervention, graceMs: number): Promise<number> {
    const names = await this.#begin(drain);
    if (names === undefined) return 0;
    try {
      const removed = await this.#endWaits(waitersIn(names), graceMs);
      await this.#finish();
      return removed;
    } catch (error) {
      // The first error counts. Where the marker cannot be removed either, it goes with the session.
      await this.#finish().catch(() => undefined);
      throw error;
    }
  }

  async #endWaits(waiters: readonly Waiter[], graceMs: number): Promise<number> {
    if (waiters.length === 0) return 0;
    const removed = await this.#removeAll(waiters);
    // Each process watches the node that its first waiter stands behind. Of those that stay, a write tells it to look.
    const drained = new Set(waiters.map(({ name }) => name));
    const stay = [...new Set(waiters.map(({ behind }) => behind))].filter((name) => !drained.has(name));
    for (const name of stay) await this.#touch(name);
    await this.#pause(graceMs / 2);
    // A watch that was set in the moment of the first write has missed it.
    for (const name of stay) await this.#touch(name);
    await this.#pause(graceMs / 2);
    return removed;
  }

  /** Puts the marker there. @returns the names in the queue from then on; undefined where there is no queue */
  async #begin(drain: Intervention): Promise<readonly string[] | undefined> {
    for (;;) {
      await this.#link.untilUp();
      const made = create(this.#marker, 'ephemeral', encodeIntervention(drain));
      const [marker, listed] = await this.#link.send([made, listNames(this.#queuePath)], 'write');
      if (failedWith(marker, 'NO_NODE')) return undefined;
      if (failedWith(marker, 'NODE_EXISTS')) await this.#refuseBeside();
      else if (marker instanceof SessionError) this.#throwUnlessPassing(marker);
      if (listed instanceof SessionError) this.#throwUnlessPassing(listed);
      else if (!(marker instanceof SessionError) || marker.code === 'NODE_EXISTS') return listed.children;
    }
  }

  /** @throws LockConfigurationError where the marker that is there already is somebody else's */
  async #refuseBeside(): Promise<void> {
    const found = await this.#link.read(this.#marker);
    // The answer to an earlier try of this doctor may have been lost.
    if (found === undefined || found.stat.ephemeralOwner === this.#link.session.identity?.id) return;
    const { by, reason } = decodeIntervention(found.data);
    throw new LockConfigurationError(
      `The queue of ${this.#key} is being drained already, by ${by} (${reason}). Look at the queue when that is over, and drain it ` +
        `again if need be`,
      this.#key,
    );
  }

  async #removeAll(waiters: readonly Waiter[]): Promise<number> {
    const names = new Set(waiters.map(({ name }) => name));
    let removed = 0;
    for (let left = waiters; left.length > 0;) {
      // From the back: as long as the one ahead is there, a waiter certainly holds nothing.
      const last = left.slice(-AT_ONCE).reverse();
      const removals = last.map(({ name, behind }) => multi([check(this.#pathOf(behind)), remove(this.#pathOf(name))]));
      await this.#link.untilUp();
      const outcomes = await this.#link.send(removals, 'write');
      for (const outcome of outcomes) {
        if (outcome instanceof SessionError) this.#throwUnlessPassing(outcome);
        else removed += 1;
      }
      const areAllGone = outcomes.every((outcome) => !(outcome instanceof SessionError));
      left = areAllGone
        ? left.slice(0, -last.length)
        : waitersIn(await namesIn(this.#link, this.#queuePath)).filter(({ name }) => names.has(name));
    }
    return removed;
  }

  /** Lets those who watch a node look at the queue. */
  async #touch(name: string): Promise<void> {
    for (;;) {
      const found = await this.#link.read(this.#pathOf(name));
      if (found === undefined) return;
      await this.#link.untilUp();
      // A write of the same data changes nothing, and fires the watches. The version keeps it from undoing another write.
      const [written] = await this.#link.send([set(this.#pathOf(name), found.data, found.stat.version)], 'write');
      // Another write, or the removal, has told the same.
      if (!(written instanceof SessionError) || !isAboutTheLink(written)) return;
    }
  }

  /** @throws LockUnavailableError where the marker went with its session before its time */
  async #finish(): Promise<void> {
    for (let mayBeRemoved = false; ;) {
      await this.#link.untilUp();
      const [removed] = await this.#link.send([remove(this.#marker)], 'write');
      if (!(removed instanceof SessionError) || (mayBeRemoved && removed.code === 'NO_NODE')) return;
      this.#throwUnlessPassing(removed);
      // The answer to this try may be lost, and the removal done: the next try then finds no marker.
      mayBeRemoved ||= removed.outcomeUnknown;
      if (removed.code !== 'NO_NODE') continue;
      const text =
        `The doctor's session ended while it drained the queue of ${this.#key}: some of the waiters may have queued again. Look, ` +
        'and drain it again';
      throw new LockUnavailableError(text, this.#key);
    }
  }

  #pathOf(name: string): string {
    return `${this.#queuePath}/${name}`;
  }

  #pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.#link.session.clock.setTimer(durationMs, resolve));
  }

  /** Returns where another look shows more. */
  #throwUnlessPassing(error: SessionError): void {
    // The link went away, or nodes have come or gone meanwhile.
    const isPassing = isAboutTheLink(error) || failedWith(error, 'NO_NODE') || failedWith(error, 'NODE_EXISTS');
    if (!isPassing || error.code === 'CLOSED') throw refusal(error, this.#key);
  }
}
