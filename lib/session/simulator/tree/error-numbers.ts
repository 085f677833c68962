/** The error numbers that the simulator answers, as in ZooKeeper. */
export const OK = 0;
export const ROLLED_BACK = -2;
export const BAD_ARGUMENTS = -8;
export const NO_NODE = -101;
export const NO_AUTH = -102;
export const BAD_VERSION = -103;
export const NO_CHILDREN_FOR_EPHEMERALS = -108;
export const NODE_EXISTS = -110;
export const NOT_EMPTY = -111;
export const SESSION_EXPIRED = -112;
export const INVALID_ACL = -114;
export const AUTH_FAILED = -115;
/** Never reaches a client: the server closes the connection instead. */
export const SESSION_MOVED = -118;
export const NO_WATCHER = -121;
