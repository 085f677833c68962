import { createHash } from 'node:crypto';
import type { RedisClient } from './redis-client.js';

/** A script that Redis runs as one step. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/**
 * A resource is one hash, so that a cluster keeps its parts together: `token`, the highest; `value`; `revision`, the name
 * of the last write. Tokens are compared as text of one length: Lua's numbers are doubles, which confuse 2^53 + 1 with 2^53.
 */
const REFUSE_STALE = `
local highest = redis.call('HGET', KEYS[1], 'token')
if highest and ARGV[1] < highest then return {'stale', highest} end
`;

export const CLAIM = script(`${REFUSE_STALE}
redis.call('HSET', KEYS[1], 'token', ARGV[1])
return {'done'}
`);

/** ARGV: token, value, revision. */
export const WRITE = script(`${REFUSE_STALE}
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[2], 'revision', ARGV[3])
return {'done'}
`);

/**
 * ARGV: token, value, revision, the revision that was read ('': none). Clients send a command again when its answer was
 * lost: the second time finds its own revision.
 */
export const WRITE_IF_UNCHANGED = script(`${REFUSE_STALE}
local revision = redis.call('HGET', KEYS[1], 'revision') or ''
if revision == ARGV[3] then return {'done'} end
if revision ~= ARGV[4] then return {'changed'} end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[2], 'revision', ARGV[3])
return {'done'}
`);

/** ARGV: token, revision. The mark stays, or a stale writer could bring the value back. */
export const REMOVE = script(`${REFUSE_STALE}
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'revision', ARGV[2])
redis.call('HDEL', KEYS[1], 'value')
return {'done'}
`);

/** A script also for this: what clients of a cluster take for a write is asked of the primary, never of a replica. */
export const READ = script(`
return redis.call('HMGET', KEYS[1], 'value', 'token', 'revision')
`);

/** Sends the script's name only; the whole of it where Redis does not know it (yet, or any more). */
export async function run(
  client: RedisClient,
  { text, sha1 }: Script,
  key: string,
  args: (string | Buffer)[],
): Promise<unknown> {
  try {
    return await client.callBuffer('evalsha', [sha1, '1', key, ...args]);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return client.callBuffer('eval', [text, '1', key, ...args]);
  }
}

function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
