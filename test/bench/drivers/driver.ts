/** What every client is asked to do in the benchmarks of the session; each does it in its own best way. */
export interface SessionDriver {
  /** Makes the parent if it is missing. */
  makeParent(path: string): Promise<void>;
  /** Creates an ephemeral sequential node and lists its parent, both on their way at once. Returns the node's path. */
  createAndList(parent: string): Promise<string>;
  remove(path: string): Promise<void>;
  close(): Promise<void>;
}

export type DriverName = 'ours' | 'zookeeper' | 'node-zookeeper-client';

export const SESSION_TIMEOUT_MS = 20_000;
export const NODE_DATA = Buffer.alloc(100, 'x');
