import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import { visible } from '../../lock/visible.js';
import { checkFunction, checkResource, checkSettings, bytesOf } from '../checks.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { staleToken } from '../refusals.js';
import { checkDurabilityOf } from './durability.js';
import { type RedisClient, run, type Script } from './redis-client.js';
import { CLAIM, KEPT_REVISIONS, newRevision, READ, REMOVE, WRITE, WRITE_IF_UNCHANGED } from './scripts.js';
import { MADE_CONTENT, type MakeContent, readMakeWrite, type Updatable } from '../update-loop.js';

export interface RedisFenceOptions extends FenceSettings {
  /** A `Redis` or a `Cluster` of the package `ioredis`. */
  readonly client: RedisClient;
  /** In front of every key. @default 'fencing:' */
  readonly prefix?: string;
}

/** What Redis keeps of a resource. */
export interface RedisValue {
  /** The bytes as they were written. */
  readonly value: Buffer;
  /** The highest token that was shown. */
  readonly fencingToken: bigint;
}

interface Content {
  readonly value: Buffer | undefined;
  readonly token: bigint | undefined;
  /** The name of the last change; empty where there was none. */
  readonly revision: string;
}

const TOKEN_DIGITS = 19;
/** Redis knows a change that the client sends a second time only while it is among the last ones. */
const WRITTEN_AT_MOST_ONCE = `Nothing was written, unless the answer to a first try was lost and ${KEPT_REVISIONS} others have written since.`;

/**
 * Refuses stale writers in Redis: the highest token and the value in one key, compared and set by a script.
 *
 * Redis answers before what it did is on a replica, and with most settings before it is on its disk. After a failover or
 * a crash the mark may be an older one, and a stale writer be accepted: see `checkDurability`, and take PostgreSQL or
 * znodes where that must not happen. Errors of the client come out as they are.
 */
export class RedisFence {
  readonly #client: RedisClient;
  readonly #prefix: string;
  readonly #settings: FenceSettings;

  /** @throws LockConfigurationError for an option that is none */
  constructor(options: RedisFenceOptions) {
    checkSettings('RedisFence', options, ['client', 'prefix']);
    const { client, prefix = 'fencing:', ...settings } = options;
    this.#client = client;
    this.#prefix = prefix;
    this.#settings = settings;
  }

  /** Where a resource is kept. The braces let keys of yours share its slot in a cluster. */
  keyOf(resource: string): string {
    checkResource(resource);
    return `${this.#prefix}{${resource}}`;
  }

  /**
   * Raises the mark of the resource to this token: from now on no older holder can write. Do it before you read what you
   * are going to change.
   * @throws StaleFencingTokenError
   */
  async claim(resource: string, fence: Fence): Promise<void> {
    await this.#run(CLAIM, { resource, token: await this.#token(resource, fence) }, []);
  }

  /** @throws StaleFencingTokenError */
  async write(resource: string, value: string | Uint8Array, fence: Fence): Promise<void> {
    const bytes = bytesOf(value, resource, 'what was given');
    await this.#change(WRITE, resource, await this.#token(resource, fence), [bytes]);
  }

  /** undefined: there is no value. Does not raise the mark. */
  async read(resource: string): Promise<RedisValue | undefined> {
    const { value, token } = await this.#read(resource);
    return value === undefined || token === undefined ? undefined : { value, fencingToken: token };
  }

  /** Takes the value away; the mark stays. @throws StaleFencingTokenError */
  async remove(resource: string, fence: Fence): Promise<void> {
    await this.#change(REMOVE, resource, await this.#token(resource, fence), []);
  }

  /**
   * Claims, reads, and writes what `change` makes of it. Where the same holder writes from several places at once,
   * `change` is called again with what the other wrote.
   * @throws StaleFencingTokenError; LockUnavailableError where many have written in between, so that it cannot be known
   * whether this did; what `change` throws, and then nothing was written
   */
  async update(resource: string, fence: Fence, change: MakeContent): Promise<void> {
    const token = await this.#token(resource, fence);
    checkFunction('update(resource, fence, change)', change, resource);
    // The claim comes before the read: no older holder can change any more what is read.
    await this.#run(CLAIM, { resource, token }, []);
    const hash: Updatable<string, 'done'> = {
      name: resource,
      read: async () => {
        const { value, revision } = await this.#read(resource);
        return { content: value, seen: revision };
      },
      write: async (content, seen) => {
        const bytes = bytesOf(content, resource, MADE_CONTENT);
        const outcome = await this.#change(WRITE_IF_UNCHANGED, resource, token, [bytes, seen]);
        if (outcome === 'unknown') throw unknownOutcome(resource);
        // Somebody with the same token has written since the read: undefined makes the loop read again.
        return outcome === 'done' ? outcome : undefined;
      },
    };
    await readMakeWrite(hash, change, (text) => new LockConfigurationError(text, resource));
  }

  /**
   * Makes sure that this Redis is told to keep what it acknowledges: `appendonly yes`, `appendfsync always` (in rewrites
   * of the log, too), `noeviction`. It says nothing about failovers. Of a cluster one node is asked.
   * @throws LockConfigurationError that says what to change
   */
  checkDurability(): Promise<void> {
    return checkDurabilityOf(this.#client);
  }

  /** `checkDurability`, under the name by which `FencingModule` checks its marks at boot. */
  check(): Promise<void> {
    return this.checkDurability();
  }

  #change(script: Script, resource: string, token: bigint, args: (string | Buffer)[]): Promise<string> {
    // The client may send a change again whose answer was lost. By this name the script knows that it was done already.
    return this.#run(script, { resource, token }, [newRevision(), ...args], WRITTEN_AT_MOST_ONCE);
  }

  /** @returns what the script answers, unless it refuses the token */
  async #run(
    script: Script,
    { resource, token }: { readonly resource: string; readonly token: bigint },
    args: (string | Buffer)[],
    whenStale?: string,
  ): Promise<string> {
    // The scripts compare tokens as texts, which have the order of numbers only at one length.
    const digits = token.toString().padStart(TOKEN_DIGITS, '0');
    const answer = await run(this.#client, script, this.keyOf(resource), [digits, ...args]);
    const [outcome = '', highest = '0'] = (answer as (Buffer | string)[]).map(String);
    if (outcome === 'stale') throw staleToken(resource, token, BigInt(highest), whenStale);
    return outcome;
  }

  async #read(resource: string): Promise<Content> {
    const [value, token, revision] = (await run(this.#client, READ, this.keyOf(resource), [])) as (Buffer | null)[];
    return {
      value: value ?? undefined,
      token: token ? BigInt(token.toString()) : undefined,
      revision: revision?.toString() ?? '',
    };
  }

  async #token(resource: string, fence: Fence): Promise<bigint> {
    checkResource(resource);
    return tokenToCompare(fence, resource, this.#settings);
  }
}

function unknownOutcome(resource: string): LockUnavailableError {
  return new LockUnavailableError(
    `${visible(resource)} was written ${KEPT_REVISIONS} times or more by others, or removed from Redis, since this update read it. ` +
      'If the answer to a first try was lost, it is not known whether it was carried out. Read it again',
    resource,
  );
}
