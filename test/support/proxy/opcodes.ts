/**
 * What a request asks for, by the names used in the tests. A table of its own, not the library's: if the two disagree, a
 * test finds out.
 */
const CODES = {
  notification: 0,
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getACL: 6,
  setACL: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  checkWatches: 17,
  removeWatches: 18,
  createContainer: 19,
  deleteContainer: 20,
  createTTL: 21,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  sasl: 102,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  createSession: -10,
  closeSession: -11,
} as const;

/** `connect` is the handshake: the first frame of a connection, which carries no opcode. */
export type OpcodeName = keyof typeof CODES | 'connect' | `unknown(${number})`;

const NAMES = new Map<number, OpcodeName>(
  Object.entries(CODES).map(([name, code]) => [code, name as keyof typeof CODES]),
);

export function opcodeName(code: number): OpcodeName {
  return NAMES.get(code) ?? `unknown(${code})`;
}

/** For tests that speak the protocol by hand. */
export function opcodeOf(name: keyof typeof CODES): number {
  return CODES[name];
}

/** Requests whose body begins with the path they are about. */
const WITHOUT_PATH = new Set<OpcodeName>([
  'notification',
  'ping',
  'multi',
  'multiRead',
  'reconfig',
  'auth',
  'sasl',
  'setWatches',
  'setWatches2',
  'whoAmI',
  'createSession',
  'closeSession',
  'connect',
]);

export function beginsWithPath(name: OpcodeName): boolean {
  return !WITHOUT_PATH.has(name) && !name.startsWith('unknown(');
}

const EVENT_NAMES = new Map<number, string>([
  [-1, 'none'],
  [1, 'created'],
  [2, 'deleted'],
  [3, 'dataChanged'],
  [4, 'childrenChanged'],
  [5, 'dataWatchRemoved'],
  [6, 'childWatchRemoved'],
  [7, 'persistentWatchRemoved'],
]);

export function eventName(type: number): string {
  return EVENT_NAMES.get(type) ?? `unknown(${type})`;
}
