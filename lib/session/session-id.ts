/**
 * A session's id as ZooKeeper's own logs and four-letter words write it, so that an operator can look it up there.
 * Snapshots, health reports and the names of the sessions' own nodes all show an id in this form.
 */
export function sessionIdText(id: bigint): string {
  return `0x${BigInt.asUintN(64, id).toString(16)}`;
}
