import { isIP } from 'node:net';

const LOCALHOST = ['127.0.0.1', '::1'];

/** Finds the addresses of a name. Rejects as soon as the signal aborts: nobody waits for the answer any more. */
export interface NameResolver {
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** The address, if the host is one or needs no asking: `localhost` is this machine, with or without a name server. */
export function addressesWithoutAsking(host: string): readonly string[] | undefined {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (isIP(bare) !== 0) return [bare];
  return bare.toLowerCase() === 'localhost' ? LOCALHOST : undefined;
}
