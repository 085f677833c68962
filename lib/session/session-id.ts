/**
 * A session's id as text: as ZooKeeper's own logs and four-letter words write it, so that one can be looked for in the other.
 * Everything that shows an id shows this: snapshots, health reports, the names of the sessions' own nodes.
 */
export function sessionIdText(id: bigint): string {
  return `0x${BigInt.asUintN(64, id).toString(16)}`;
}
