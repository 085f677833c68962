import { FencedZnodes } from '../../../lib/fencing/znodes/fenced-znodes.js';
import { type LockTicket, ticketOf } from '../../../lib/fencing/znodes/ticket.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import type { LockClient } from '../locks/lock-client.js';
import type { ClientOptions, LockStage } from '../locks/lock-stage.js';

/** Where the tests of `FencedZnodes` keep their data. */
export const ROOT = '/data';

/** A holder, and a node of its own to write. */
export interface ZnodeScene {
  readonly client: LockClient;
  readonly znodes: FencedZnodes;
  readonly lock: LockHandle;
  readonly path: string;
  /** As requests name it. */
  readonly fullPath: string;
}

let paths = 0;

export async function znodeScene(stage: LockStage, options: ClientOptions = {}): Promise<ZnodeScene> {
  const client = await stage.open(options);
  const lock = await client.service.acquire(stage.freshKey());
  const znodes = new FencedZnodes({ locks: client.service, root: ROOT });
  const path = `/fresh/${(paths += 1)}`;
  return { client, lock, znodes, path, fullPath: `${ROOT}${path}` };
}

/** As it arrives in another process. */
export function passedOn(lock: LockHandle): LockTicket {
  return JSON.parse(JSON.stringify(ticketOf(lock))) as LockTicket;
}

export async function textOf(znodes: FencedZnodes, path: string): Promise<string | undefined> {
  return (await znodes.read(path))?.data.toString();
}

export const add = (entry: string) => (current: Buffer | undefined) => `${current?.toString() ?? ''}${entry}`;
