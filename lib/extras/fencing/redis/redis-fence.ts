import { randomUUID } from 'node:crypto';
import { checkResource } from '../check-resource.js';
import { type Fence, type FenceSettings, tokenToCompare } from '../fence.js';
import { staleToken } from '../rule.js';
import { checkDurabilityOf } from './durability.js';
import type { RedisClient } from './redis-client.js';
import { CLAIM, READ, REMOVE, run, type Script, WRITE, WRITE_IF_UNCHANGED } from './scripts.js';

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
  readonly revision: string;
}

const TOKEN_DIGITS = 19;

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

  constructor({ client, prefix = 'fencing:', ...settings }: RedisFenceOptions) {
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
    await this.#run(CLAIM, resource, await this.#token(resource, fence), []);
  }

  /** @throws StaleFencingTokenError */
  async write(resource: string, value: string | Uint8Array, fence: Fence): Promise<void> {
    await this.#run(WRITE, resource, await this.#token(resource, fence), [bytesOf(value), randomUUID()]);
  }

  /** undefined: there is no value. Does not raise the mark. */
  async read(resource: string): Promise<RedisValue | undefined> {
    const { value, token } = await this.#read(resource);
    return value === undefined || token === undefined ? undefined : { value, fencingToken: token };
  }

  /** Takes the value away; the mark stays. @throws StaleFencingTokenError */
  async remove(resource: string, fence: Fence): Promise<void> {
    await this.#run(REMOVE, resource, await this.#token(resource, fence), [randomUUID()]);
  }

  /**
   * Claims, reads, and writes what `change` makes of it. Where the same holder writes from several places at once,
   * `change` is called again with what the other wrote.
   * @throws StaleFencingTokenError; what `change` throws, and then nothing was written
   */
  async update(
    resource: string,
    fence: Fence,
    change: (current: Buffer | undefined) => string | Uint8Array | PromiseLike<string | Uint8Array>,
  ): Promise<void> {
    const token = await this.#token(resource, fence);
    await this.#run(CLAIM, resource, token, []);
    for (;;) {
      const { value, revision } = await this.#read(resource);
      const changed = bytesOf(await change(value));
      const args = [changed, randomUUID(), revision];
      if ((await this.#run(WRITE_IF_UNCHANGED, resource, token, args)) === 'done') return;
    }
  }

  /**
   * Whether this Redis is told to keep what it acknowledges: `appendonly yes`, `appendfsync always`, `noeviction`. It
   * says nothing about failovers. Of a cluster one node is asked.
   * @throws LockConfigurationError that says what to change
   */
  checkDurability(): Promise<void> {
    return checkDurabilityOf(this.#client);
  }

  async #run(script: Script, resource: string, token: bigint, args: (string | Buffer)[]): Promise<string> {
    const digits = token.toString().padStart(TOKEN_DIGITS, '0');
    const answer = await run(this.#client, script, this.keyOf(resource), [digits, ...args]);
    const [outcome, highest] = (answer as (Buffer | string)[]).map(String);
    if (outcome === 'stale') throw staleToken(resource, token, BigInt(highest ?? '0'));
    return outcome ?? '';
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

function bytesOf(value: string | Uint8Array): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
