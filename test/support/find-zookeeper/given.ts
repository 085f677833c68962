import { reasonOf } from './command.js';
import { handshake } from './handshake.js';
import type { SharedZooKeeper } from './shared.js';

/** The ensemble `ZOOKEEPER_CONNECT` names. It is somebody else's: nothing is stopped at the end. */
export async function useGivenServer(connect: string): Promise<SharedZooKeeper> {
  const reasons: string[] = [];
  for (const { host, port } of serversOf(connect)) {
    const reason = await handshake(host, port, 5_000).then(() => undefined, reasonOf);
    if (reason === undefined) return { kind: 'given', connect, stop: async () => undefined };
    reasons.push(reason);
  }
  throw new Error(`no server of ZOOKEEPER_CONNECT=${connect} serves: ${reasons.join('; ')}`);
}

/** The servers of a connect string, without its chroot; an address without a port means 2181. */
export function serversOf(connect: string): { host: string; port: number }[] {
  const list = connect.split('/')[0] ?? '';
  return list.split(',').map((server) => {
    const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(server.trim());
    const host = match?.[1] ?? match?.[2];
    if (host === undefined) throw new Error(`ZOOKEEPER_CONNECT=${connect}: "${server}" is not host:port`);
    return { host, port: Number(match?.[3] ?? 2181) };
  });
}
