import { isIP } from 'node:net';

const LOCALHOST = ['127.0.0.1', '::1'];

/** Finds the addresses of a name. It rejects as soon as the signal aborts, as nobody waits for the answer any more. */
export interface NameResolver {
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}

/**
 * The addresses of a host that needs no look-up: an address, or `localhost`, which is this machine even without a name
 * server.
 */
export function addressesWithoutAsking(host: string): readonly string[] | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0) return [bare];
  return bare.toLowerCase() === 'localhost' ? LOCALHOST : undefined;
}
