import { LockConfigurationError, StaleFencingTokenError } from '../../lock/errors.js';
import { staleToken } from '../refusals.js';
import { isStale } from '../rule.js';
import { assertFits } from './content.js';
import type { FencedFileStoreOptions } from './fenced-file-store.js';
import type { Generations } from './generations.js';
import type { Identity, Journal } from './journal.js';
import type { JournalState } from './journal-state.js';
import { isLackOfRoom } from './room.js';
import { onOneLine } from '../on-one-line.js';

/** A journal may be that much larger than what it amounts to. */
const GROWTH = 4;

/** So often in a row no journal is replaced between its opening and the look whether it is still there. */
const MAX_LOOKS = 1_000;

export interface Change {
  readonly kind: 'write' | 'append' | 'claim' | 'remove';
  readonly token: bigint;
  readonly payload: Uint8Array;
  /** Only if the content is still the one that this record (`JournalState.lastChange`) made. */
  readonly onlyAfter?: string | undefined;
}

/**
 * One file of the store. Nobody is kept out while somebody writes, as there is no lock that a stopped or dead process would
 * not keep, or lose without knowing. Instead everybody adds to the end of a journal, the kernel puts what is added in one
 * order for all processes, and the tokens before a record decide whether it counts.
 *
 * Its methods must be called one after the other.
 */
export class FencedFile {
  #journal: Journal | undefined;
  /** The highest token in a journal when it was found damaged: read anew, it may look as if that had never been shown. */
  #known: (Identity & { readonly mark: bigint }) | undefined;

  constructor(
    private readonly resource: string,
    private readonly generations: Generations,
    private readonly minJournalBytes: number,
    private readonly onDamage: FencedFileStoreOptions['onDamage'] = undefined,
  ) {}

  /** Whether there is something to keep. */
  get isInUse(): boolean {
    return this.#journal !== undefined || this.#known !== undefined;
  }

  /** As of a moment during the call, and never to be taken back: `undefined` where nobody has ever written. */
  look<T>(at: (state: JournalState) => T): Promise<T | undefined> {
    return this.#orStartOver(async () => {
      const journal = await this.#current('look');
      if (journal === undefined) return undefined;
      const seen = at(journal.state);
      await journal.makeDurable();
      return seen;
    });
  }

  /**
   * Resolves with false when `onlyAfter` did not hold.
   * @throws StaleFencingTokenError
   */
  change({ kind, token, payload, onlyAfter }: Change): Promise<boolean> {
    return this.#orStartOver(async () => {
      for (;;) {
        const journal = await this.#currentOrNew();
        const { mark, content } = journal.state;
        // A stale writer that tries again and again would fill the disk.
        if (isStale(token, mark)) throw staleToken(this.resource, token, mark);
        if (kind === 'claim' && token === mark) {
          await journal.makeDurable();
          return true;
        }
        assertFits(this.resource, payload.length + (kind === 'append' ? (content?.length ?? 0) : 0));
        // A sealed journal without a successor takes no more changes: where there is no room for one, better it grows.
        if (journal.size > this.#limitOf(journal.state) && (await this.generations.hasRoomAfter(journal.state))) {
          await journal.append({ kind: 'seal', token: mark, payload: new Uint8Array() });
          continue;
        }
        const outcome = await journal.append({ kind, token, payload, onlyAfter });
        switch (outcome.verdict) {
          case 'counts':
            await this.#assertKept(journal);
            return true;
          case 'overtaken':
            return false;
          case 'stale':
            throw staleToken(this.resource, token, outcome.mark);
          case 'sealed':
            break;
        }
      }
    });
  }

  async close(): Promise<void> {
    const journal = this.#journal;
    this.#journal = undefined;
    await journal?.close();
  }

  async #currentOrNew(): Promise<Journal> {
    for (;;) {
      const journal = await this.#current('change');
      if (journal !== undefined) return journal;
      await this.generations.create();
    }
  }

  /**
   * As long as a journal is in its place and not sealed, it is the file: its successor is made after the seal. So the look at
   * its end is enough, without one at the folder. One that is sealed is the file, too, until it has a successor, and is good enough for
   * a look where there is no room to make one.
   */
  async #current(purpose: 'look' | 'change'): Promise<Journal | undefined> {
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const journal = (this.#journal ??= await this.generations.open());
      if (journal === undefined) return undefined;
      await journal.catchUp();
      if (!(await journal.isInPlace())) {
        await this.close();
        continue;
      }
      this.#assertRemembers(journal);
      if (!journal.state.isSealed) return journal;
      const obstacle = await this.#replace(journal);
      if (obstacle !== undefined && purpose === 'look') return journal;
      if (obstacle !== undefined) throw obstacle;
      await this.close();
    }
    throw neverInPlace(this.resource, this.generations.folder);
  }

  /**
   * A record that counts is of no use in a journal that was moved or removed with its folder, be it while it was added. One
   * that was replaced has a successor, which began with all that counted.
   */
  async #assertKept(journal: Journal): Promise<void> {
    if (await journal.isInPlace()) return;
    await journal.catchUp();
    if (journal.state.isSealed) {
      await this.close();
      this.#journal = await this.generations.open();
      if (this.#journal !== undefined && this.#journal.generation > journal.generation) return;
    }
    throw movedAway(this.resource, this.generations.folder);
  }

  /** Resolves with the error when there is no room for a successor, and nobody else has made one. */
  async #replace(sealed: Journal): Promise<Error | undefined> {
    try {
      await this.generations.succeed(sealed);
      return undefined;
    } catch (error) {
      if (!isLackOfRoom(error)) throw error;
      return (await this.generations.isLast(sealed.generation)) ? (error as Error) : undefined;
    }
  }

  /** Another file in its place is what somebody has put there, and counts. */
  #assertRemembers({ identity: { ino, dev }, state, path }: Journal): void {
    const known = this.#known;
    if (known?.ino !== ino || known.dev !== dev || state.mark >= known.mark) return;
    throw forgotten(path, state.mark, known.mark);
  }

  #remember({ identity: { ino, dev }, state }: Journal): void {
    const known = this.#known;
    const before = known?.ino === ino && known.dev === dev ? known.mark : 0n;
    this.#known = { ino, dev, mark: before > state.mark ? before : state.mark };
  }

  /** What is known of a journal is worth nothing after an error in the middle of reading it, but for its highest token. */
  async #orStartOver<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      if (error instanceof LockConfigurationError && this.#journal !== undefined) this.#remember(this.#journal);
      if (!(error instanceof StaleFencingTokenError)) await this.close();
      throw this.#named(error);
    }
  }

  /** What a journal says of itself names its folder, of which nobody outside is told: so it is said of the resource. */
  #named(error: unknown): unknown {
    if (!(error instanceof LockConfigurationError) || error.key !== undefined) return error;
    const text = `${onOneLine(this.resource)}: ${error.details}`;
    const named = new LockConfigurationError(text, this.resource, { cause: error });
    try {
      this.onDamage?.(named);
    } catch {
      // Whoever called must be told of the damage, and not of what was to be told of it.
    }
    return named;
  }

  #limitOf({ content }: JournalState): number {
    return Math.max(this.minJournalBytes, GROWTH * (content?.length ?? 0));
  }
}

function forgotten(path: string, mark: bigint, known: bigint): LockConfigurationError {
  return new LockConfigurationError(
    `${path} is damaged: the highest fencing token in it is ${mark}, and this process has read ${known} there. Nothing of it is ` +
      'read or written here. Stop all writers, then restore its folder from a backup (docs/fencing.md, "Damage")',
  );
}

function movedAway(resource: string, folder: string): LockConfigurationError {
  return new LockConfigurationError(
    `${folder} was moved or removed while ${onOneLine(resource)} was written: what was written is in what was moved, and not in the file ` +
      'that is there now, if there is one. Read it again. Before a folder of the store is moved, all writers must be stopped',
    resource,
  );
}

function neverInPlace(resource: string, folder: string): LockConfigurationError {
  return new LockConfigurationError(
    `The journal of ${onOneLine(resource)} that was opened in ${folder} was never the one that is there. Does something else change the ` +
      'folder, or does its file system number its files anew each time? Use a local disk',
    resource,
  );
}
