/** The numbers of the operations as in ZooKeeper's `ZooDefs.OpCode`, by the names that requests have here. */
export const OPCODES = {
  /** `create2`, which answers with the stat of the new node. */
  create: 15,
  /** For containers. It also answers with the stat. */
  createContainer: 19,
  /** The result type of a create in a multi, without a stat. It is never sent. */
  createWithoutStat: 1,
  delete: 2,
  exists: 3,
  get: 4,
  set: 5,
  sync: 9,
  ping: 11,
  /** `getChildren2`, which answers with the stat. */
  list: 12,
  check: 13,
  multi: 14,
  removeWatches: 18,
  auth: 100,
  setWatches: 101,
  closeSession: -11,
  /** In a multi: the result type of a part that failed, and the type of the header that ends the list. */
  error: -1,
} as const;
