import { setTimeout as pause } from 'node:timers/promises';
import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { bytesOf, checkFunction, checkResource, checkSettings, type NewContent } from '../checks.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { staleToken } from '../refusals.js';
import { isStale } from '../token.js';
import { attempt, MADE_CONTENT, type MakeContent, readMakeWrite } from '../update-loop.js';
import { get, type ObjectClient, type ObjectCondition, put } from './object-client.js';
import {
  decodeRecord,
  encodeRecord,
  isIn,
  KEPT_WRITES,
  newWriteName,
  nextRecord,
  type ObjectRecord,
} from './record.js';

export interface FencedObjectsOptions extends FenceSettings {
  /** Reads and writes one bucket, under whatever names it makes of those of the resources. */
  readonly client: ObjectClient;
}

/** An object with the highest token that was shown for it. */
export interface StoredObject {
  readonly content: Buffer;
  readonly fencingToken: bigint;
}

/** An object as it was read. */
interface Version {
  readonly record: ObjectRecord | undefined;
  readonly etag: string | undefined;
}

/** What a call does to an object. */
interface Change {
  readonly token: bigint;
  /** undefined as the content: the object is removed, and its token kept. */
  readonly content: (now: ObjectRecord | undefined) => Buffer | undefined;
}

/** With so many writes in between, something writes without end. */
const MOST_LOSSES = 1_000;
/** How often one write is sent; with the pauses this is about five seconds. */
const MOST_TRIES = 8;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Refuses stale writers in an object store, by conditional writes (`If-Match`, `If-None-Match: *`): the highest token stands in the
 * object itself, in a line in front of the content, so each write replaces both at once and gives the object another ETag. A writer
 * that was paused before its write has the ETag of another version, and is refused.
 *
 * The store must carry out conditional writes (`checkConditions`), and read what was written last. Other programs must not write the
 * objects, or delete them.
 */
export class FencedObjects {
  readonly #client: ObjectClient;
  readonly #settings: FenceSettings;

  /** @throws LockConfigurationError for an option that is none */
  constructor(options: FencedObjectsOptions) {
    checkSettings('FencedObjects', options, ['client']);
    const { client, ...settings } = options;
    this.#client = client;
    this.#settings = settings;
  }

  /** undefined: there is no content. Does not raise the mark. */
  async read(resource: string): Promise<StoredObject | undefined> {
    checkResource(resource);
    const { record } = await this.#look(resource);
    return record?.content === undefined ? undefined : { content: record.content, fencingToken: record.token };
  }

  /** The highest token that was shown, also of a removed object; undefined: none was. */
  async highest(resource: string): Promise<bigint | undefined> {
    checkResource(resource);
    return (await this.#look(resource)).record?.token;
  }

  /**
   * Raises the mark of the resource to this token, with the content as it is: from now on no older holder can write. Do it before you
   * read what you are going to change.
   * @throws StaleFencingTokenError
   */
  async claim(resource: string, fence: Fence): Promise<void> {
    const token = await this.#token(resource, fence);
    const seen = await this.#look(resource);
    // The mark is there already: nothing would change by a write.
    if (seen.record?.token === token) return;
    await this.#change(resource, { token, content: (now) => now?.content }, seen);
  }

  /** Replaces the content. @throws StaleFencingTokenError; LockUnavailableError where it cannot be known whether it was done */
  async write(resource: string, content: NewContent, fence: Fence): Promise<void> {
    const bytes = bytesOf(content, resource, 'what was given');
    const token = await this.#token(resource, fence);
    await this.#change(resource, { token, content: () => bytes }, await this.#look(resource));
  }

  /** Takes the content away; the mark stays. @throws as `write` */
  async remove(resource: string, fence: Fence): Promise<void> {
    const token = await this.#token(resource, fence);
    await this.#change(resource, { token, content: () => undefined }, await this.#look(resource));
  }

  /**
   * Reads, and writes what `make` returns if nobody has written in between; otherwise `make` is called again with what is there then.
   * @throws as `write`; what `make` throws, and then nothing was written
   */
  async update(resource: string, fence: Fence, make: MakeContent): Promise<void> {
    const token = await this.#token(resource, fence);
    checkFunction('update(resource, fence, make)', make, resource);
    const object = {
      name: resource,
      read: async () => {
        const seen = await this.#look(resource);
        refuseStale(resource, token, seen.record);
        return { content: seen.record?.content, seen };
      },
      write: async (made: NewContent, seen: Version) => {
        const bytes = bytesOf(made, resource, MADE_CONTENT);
        const told = await this.#writeOver(resource, { token, content: () => bytes }, seen);
        return told === 'done' ? told : undefined;
      },
    };
    await readMakeWrite(object, make, (text) => new LockConfigurationError(text, resource));
  }

  /**
   * Makes sure that the store carries out conditions, and that the client gives ETags: some stores ignore what they do not know, and
   * would let every stale writer in. Writes an object of this name, which must be used for nothing else.
   * @throws LockConfigurationError
   */
  async checkConditions(name = 'fencing-check'): Promise<void> {
    const body = Buffer.from(newWriteName());
    const made = await put(this.#client, name, body, { ifNoneMatch: '*' });
    if (made.type === 'refused' || made.type === 'unknown') throw made.error;
    for (const condition of [{ ifNoneMatch: '*' }, { ifMatch: '"0123456789abcdef0123456789abcdef"' }] as const) {
      const outcome = await put(this.#client, name, body, condition);
      if (outcome.type === 'done') throw ignoresConditions(condition);
      if (outcome.type !== 'lost') throw outcome.error;
    }
    if ((await get(this.#client, name)) === undefined) throw readsNothing(name);
  }

  async #look(name: string): Promise<Version> {
    const found = await get(this.#client, name);
    if (found === undefined) return { record: undefined, etag: undefined };
    return { record: decodeRecord(name, found.body), etag: found.etag };
  }

  /** Writes over what is there until the write is done, however often somebody else is first. */
  async #change(resource: string, change: Change, seen: Version): Promise<void> {
    let over = seen;
    const once = async (): Promise<'done' | undefined> => {
      const told = await this.#writeOver(resource, change, over);
      if (told === 'done') return told;
      over = told;
      return undefined;
    };
    await attempt(MOST_LOSSES, once, () => givenUp(resource));
  }

  /**
   * One write, over one version. It goes under one name however often it is sent, and is sent with the same condition: so it is carried
   * out once at most, also where a first try arrives late.
   * @returns the version that somebody else has made instead
   */
  async #writeOver(resource: string, { token, content }: Change, over: Version): Promise<'done' | Version> {
    refuseStale(resource, token, over.record);
    const name = newWriteName();
    const body = encodeRecord(nextRecord(over.record, name, token, content(over.record)));
    const condition: ObjectCondition = over.etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: over.etag };
    let mayComeYet = false;
    for (let tries = 1; ; tries += 1) {
      const outcome = await put(this.#client, resource, body, condition);
      if (outcome.type === 'done') return 'done';
      if (outcome.type === 'refused') throw mayComeYet ? unknownOutcome(resource, outcome.error) : outcome.error;
      mayComeYet ||= outcome.type === 'unknown';
      const now = await this.#lookAgain(resource);
      if (now !== undefined) {
        const isDone = isIn(now.record, over.record, name);
        if (isDone === true) return 'done';
        if (isDone === undefined) throw unknownBehindOthers(resource, outcome.error);
        if (now.etag !== over.etag) {
          // Whatever was sent over the version before comes too late from now on.
          refuseStale(resource, token, now.record);
          return now;
        }
      }
      // The version is still the one before: the write was not carried out, or not yet.
      if (tries === MOST_TRIES) {
        throw mayComeYet
          ? unknownOutcome(resource, outcome.error)
          : refusedThoughUnchanged(resource, condition, outcome.error);
      }
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS));
    }
  }

  /** undefined: it cannot be read now. */
  async #lookAgain(resource: string): Promise<Version | undefined> {
    try {
      return await this.#look(resource);
    } catch (error) {
      if (error instanceof LockConfigurationError) throw error;
      return undefined;
    }
  }

  async #token(resource: string, fence: Fence): Promise<bigint> {
    checkResource(resource);
    return tokenToCompare(fence, resource, this.#settings);
  }
}

function refuseStale(resource: string, token: bigint, now: ObjectRecord | undefined): void {
  if (now !== undefined && isStale(token, now.token)) throw staleToken(resource, token, now.token);
}

function unknownOutcome(resource: string, cause: unknown): LockUnavailableError {
  return new LockUnavailableError(
    `Whether the object ${visible(resource)} was written is not known: in up to ${MOST_TRIES} tries the store said that another ` +
      'write was under way, failed, or did not answer. The write may be carried out yet. Read the object before you repeat it',
    resource,
    { cause },
  );
}

function refusedThoughUnchanged(resource: string, condition: ObjectCondition, cause: unknown): LockConfigurationError {
  const sent = condition.ifMatch === undefined ? 'If-None-Match: *' : `If-Match: ${condition.ifMatch}`;
  return new LockConfigurationError(
    `The object store refused ${sent} for ${visible(resource)} ${MOST_TRIES} times, though reads give the same object. Does get() ` +
      'give the ETag as the store has it (quotes, no W/), past all caches? Nothing was written',
    resource,
    { cause },
  );
}

function unknownBehindOthers(resource: string, cause: unknown): LockUnavailableError {
  return new LockUnavailableError(
    `Whether the object ${visible(resource)} was written is not known: others have written it more than ${KEPT_WRITES} times since, ` +
      'or it was deleted. Read it again',
    resource,
    { cause },
  );
}

function givenUp(resource: string): LockConfigurationError {
  return new LockConfigurationError(
    `The object ${visible(resource)} was written by others during each of ${MOST_LOSSES} attempts to write it under the same token. ` +
      'Nothing was written',
    resource,
  );
}

function ignoresConditions(condition: ObjectCondition): LockConfigurationError {
  const header = condition.ifMatch === undefined ? 'If-None-Match: *' : 'If-Match';
  return new LockConfigurationError(
    `The object store carried out a write whose condition (${header}) was not met. Either it does not know conditional writes, or the ` +
      'client does not send the condition, or its put() does not reject where the store refuses. It would let stale writers in',
  );
}

function readsNothing(name: string): LockConfigurationError {
  return new LockConfigurationError(
    `get() of the client found no object ${visible(name)}, though the store says that it is there. Does put() write to the same place, ` +
      'and does get() give undefined for nothing but 404?',
    name,
  );
}
