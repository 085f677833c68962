import { createHash, randomBytes } from 'node:crypto';
import type { Script } from './redis-client.js';

/** How many changes of a resource are remembered by name, so that one that is sent again is recognised. */
export const KEPT_REVISIONS = 32;
const REVISION_BYTES = 12;
/** In base64url, and the blank behind it. */
const REVISION_LENGTH = 17;

/**
 * A resource is one hash, so that a cluster keeps its parts together: `token`, the highest; `value`; `revisions`, the names
 * of the last changes, the newest first. Tokens are compared as text of one length: Lua's numbers are doubles, which
 * confuse 2^53 + 1 with 2^53.
 */
const REFUSE_STALE = `
local highest = redis.call('HGET', KEYS[1], 'token')
if highest and ARGV[1] < highest then return {'stale', highest} end
`;

/**
 * Clients send a command again when its answer was lost. A change that was carried out the first time is answered as done,
 * also where a newer holder has come since: that one has seen it. It is not done again over what others have written since.
 */
const CHANGE = `
local revisions = redis.call('HGET', KEYS[1], 'revisions') or ''
if revisions:find(ARGV[2], 1, true) then return {'done'} end
${REFUSE_STALE}
local kept = (ARGV[2] .. ' ' .. revisions):sub(1, ${KEPT_REVISIONS * REVISION_LENGTH})
`;

export const CLAIM = script(`${REFUSE_STALE}
redis.call('HSET', KEYS[1], 'token', ARGV[1])
return {'done'}
`);

/** ARGV: token, revision, value. */
export const WRITE = script(`${CHANGE}
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'revisions', kept, 'value', ARGV[3])
return {'done'}
`);

/**
 * ARGV: token, revision, value, the revision that was read ('': none). Where that one is forgotten, one made on top of it
 * may be, too: whether this is the second try cannot be known.
 */
export const WRITE_IF_UNCHANGED = script(`${CHANGE}
if revisions:sub(1, ${REVISION_LENGTH - 1}) ~= ARGV[4] then
  local isKnown = revisions:find(ARGV[4], 1, true)
  if ARGV[4] == '' then isKnown = #revisions < ${KEPT_REVISIONS * REVISION_LENGTH} end
  return {isKnown and 'changed' or 'unknown'}
end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'revisions', kept, 'value', ARGV[3])
return {'done'}
`);

/** ARGV: token, revision. The mark stays, or a stale writer could bring the value back. */
export const REMOVE = script(`${CHANGE}
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'revisions', kept)
redis.call('HDEL', KEYS[1], 'value')
return {'done'}
`);

/** Reading is a script, too: a client of a cluster takes scripts for writes, and never sends a write to a replica. */
export const READ = script(`
local found = redis.call('HMGET', KEYS[1], 'value', 'token', 'revisions')
return {found[1], found[2], (found[3] or ''):sub(1, ${REVISION_LENGTH - 1})}
`);

/** Makes a name for one change. */
export function newRevision(): string {
  return randomBytes(REVISION_BYTES).toString('base64url');
}

function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
