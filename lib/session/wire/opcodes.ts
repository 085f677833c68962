/** The numbers of the operations as in ZooKeeper's `ZooDefs.OpCode`. */
export const Opcode = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  removeWatches: 18,
  createContainer: 19,
  auth: 100,
  setWatches: 101,
  closeSession: -11,
  /** In a multi: the result type of a part that failed, and the type of the header that ends the list. */
  error: -1,
} as const;
