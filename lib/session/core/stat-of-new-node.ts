import type { CreateRequest, Stat } from '../requests.js';

/**
 * The stat of a node that was just created, from what is known without asking: where the answer to a create is only the
 * path. The times, by the server's clock, stay 0.
 */
export function statOfNewNode(request: CreateRequest, zxid: bigint, sessionId: bigint): Stat {
  const ephemeral = request.mode === 'ephemeral' || request.mode === 'ephemeral-sequential';
  return {
    czxid: zxid,
    mzxid: zxid,
    ctime: 0,
    mtime: 0,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: ephemeral ? sessionId : 0n,
    dataLength: Buffer.byteLength(request.data ?? ''),
    numChildren: 0,
    pzxid: zxid,
  };
}
