/**
 * The state of the link to ZooKeeper, for people and for policy. It never decides whether a lock is still certain: that
 * is arithmetic on the clock (`Session.certainUntil`).
 *
 * - `connecting`: there is no session yet, and the first session time-out has not passed
 * - `connected`: the first session is up, however long that took
 * - `suspended`: the link is down, and the session may live on at the servers
 * - `reconnected`: a link is up again, with the same session or with a new one (compare `Session.identity`)
 * - `lost`: the servers ended the session, or may have, as the link was down for a whole session time-out; or no first
 *   session could be had for as long
 * - `closed`: the end, because `close()` was called or the servers refuse this client for good
 */
export type ConnectionState = 'connecting' | 'connected' | 'suspended' | 'reconnected' | 'lost' | 'closed';

/** Whether requests can be sent in this state. */
export function isUp(state: ConnectionState): state is 'connected' | 'reconnected' {
  return state === 'connected' || state === 'reconnected';
}
