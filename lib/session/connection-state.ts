/**
 * What the link to ZooKeeper is doing, for people and for policy. Whether a lock is still certain is never read from
 * here: that is arithmetic on the clock (`Session.certainUntil`).
 *
 * - `connecting`: no session yet, and not for long
 * - `connected`: the first session is up, however long that took
 * - `suspended`: the link is down, the session may live on at the servers
 * - `reconnected`: a link is up again, with the same session or with a new one (compare `Session.identity`)
 * - `lost`: the servers ended the session, or may have: the link has been down for a whole session time-out; or no first
 *   session was to be had for as long
 * - `closed`: the end; `close()` was called, or the servers refuse us for good
 */
export type ConnectionState = 'connecting' | 'connected' | 'suspended' | 'reconnected' | 'lost' | 'closed';

/** Whether requests can be sent in this state. */
export function isUp(state: ConnectionState): state is 'connected' | 'reconnected' {
  return state === 'connected' || state === 'reconnected';
}
