import { LockConfigurationError, StaleFencingTokenError } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { staleToken } from '../refusals.js';
import { isStale } from '../token.js';
import { isLackOfRoom } from './disk.js';
import type { Generations } from './generations.js';
import { type Identity, isSameFile, type Journal } from './journal.js';
import { assertFits, type JournalState } from './journal-state.js';
import type { FencedFileStoreOptions } from './options.js';

/** A journal may have this many times the bytes of the file that it amounts to. */
const GROWTH = 4;

/** A journal is not replaced that often in a row between its opening and the look whether it is still there. */
const MAX_LOOKS = 1_000;

export interface Change {
  readonly kind: 'write' | 'append' | 'claim' | 'remove';
  readonly token: bigint;
  readonly payload: Uint8Array;
  /** The change counts only if the content is still the one that this record (`JournalState.lastChange`) made. */
  readonly onlyAfter?: string | undefined;
}

/**
 * One file of the store. No writer keeps another out: a stopped or dead process would keep such a lock for ever, or lose it
 * without knowing. Instead each writer adds records to the end of a journal, the kernel puts them in one order for all
 * processes, and the tokens in front of a record decide whether it counts.
 *
 * Its methods must be called one after the other.
 */
export class FencedFile {
  #journal: Journal | undefined;
  /** The highest token that was read in a journal before it was found damaged. Read anew, the journal may lack that token. */
  #known: { readonly journal: Identity; readonly mark: bigint } | undefined;

  constructor(
    private readonly resource: string,
    private readonly generations: Generations,
    private readonly minJournalBytes: number,
    private readonly onDamage: FencedFileStoreOptions['onDamage'] = undefined,
  ) {}

  /** Whether an open journal, or a token of a damaged one, must be kept. */
  get isInUse(): boolean {
    return this.#journal !== undefined || this.#known !== undefined;
  }

  /** Looks at the state of a moment during the call, which no crash takes back; undefined where nobody has ever written. */
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
        // The record would not count. A stale writer that tries again and again would fill the disk with such records.
        if (isStale(token, mark)) throw staleToken(this.resource, token, mark);
        if (kind === 'claim' && token === mark) {
          await journal.makeDurable();
          return true;
        }
        assertFits(this.resource, payload.length + (kind === 'append' ? (content?.length ?? 0) : 0));
        // A sealed journal takes no more changes. Where there is no room for a successor, the journal grows instead.
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

  /** The journal that is the file now; undefined where there is none yet. */
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
      // A journal gets a successor only behind its seal. So this one is the file, and the folder need not be looked at.
      if (!journal.state.isSealed) return journal;
      const obstacle = await this.#replace(journal);
      // Without a successor the sealed journal is still the file, which is good enough for a look.
      if (obstacle !== undefined && purpose === 'look') return journal;
      if (obstacle !== undefined) throw obstacle;
      await this.close();
    }
    throw neverInPlace(this.resource, this.generations.folder);
  }

  /** Refuses a change that nobody will read. */
  async #assertKept(journal: Journal): Promise<void> {
    // The journal may have been moved or removed with its folder, also while the record was added.
    if (await journal.isInPlace()) return;
    await journal.catchUp();
    if (journal.state.isSealed) {
      await this.close();
      this.#journal = await this.generations.open();
      // The journal was replaced, not moved: its successor began with all that counted.
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

  /** Refuses a journal that lacks a token which was read in it before. */
  #assertRemembers(journal: Journal): void {
    const known = this.#markKnownIn(journal);
    if (journal.state.mark < known) throw forgotten(journal.path, journal.state.mark, known);
  }

  #remember(journal: Journal): void {
    const known = this.#markKnownIn(journal);
    this.#known = { journal: journal.identity, mark: known > journal.state.mark ? known : journal.state.mark };
  }

  #markKnownIn({ identity }: Journal): bigint {
    // Another file in the place of a damaged one is what somebody has put there, and counts: of it nothing is known.
    return this.#known !== undefined && isSameFile(this.#known.journal, identity) ? this.#known.mark : 0n;
  }

  /** Lets go of the journal after an error, so that the next call reads it anew. */
  async #orStartOver<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      // The error may have come in the middle of a read: only the highest token that was read can still be relied on.
      if (error instanceof LockConfigurationError && this.#journal !== undefined) this.#remember(this.#journal);
      // A stale token says nothing against the journal, and stale writers must not cost a new start each time.
      if (!(error instanceof StaleFencingTokenError)) await this.close();
      throw this.#named(error);
    }
  }

  /** Gives the error of a journal the name of its resource, and tells the listener for damage. */
  #named(error: unknown): unknown {
    if (!(error instanceof LockConfigurationError) || error.key !== undefined) return error;
    // With the resource as its key, the error keeps its details, which name a folder, from those who call from outside.
    const text = `${visible(this.resource)}: ${error.details}`;
    const named = new LockConfigurationError(text, this.resource, { cause: error });
    try {
      this.onDamage?.(named);
    } catch {
      // The caller must be told of the damage, and not of a listener that failed.
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
    `${folder} was moved or removed while ${visible(resource)} was written: the change is in the folder that was moved, and not in ` +
      'the file that is there now, if there is one. Read it again. Stop all writers before you move a folder of the store',
    resource,
  );
}

function neverInPlace(resource: string, folder: string): LockConfigurationError {
  return new LockConfigurationError(
    `No journal of ${visible(resource)} stays in ${folder} for long enough to be read. Does something else change the folder, or does ` +
      'its file system give files another number each time? Use a local disk',
    resource,
  );
}
