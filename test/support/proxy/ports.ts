import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCode } from '../process/error-code.js';

/**
 * Below the ports that the system gives to outgoing connections (from 32768 on Linux): a port that was let go for a while
 * (a server killed, a proxy that refuses) is not taken by somebody's connection before it is wanted again.
 */
const FIRST_PORT = 12_000;
const LAST_PORT = 31_999;
const MOST_TRIES = 200;
const MOST_STARTS = 5;

const given = new Set<number>();

/** A port of 127.0.0.1 on which nothing listens, and which this process was not given before. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
    if (given.has(port) || !(await canListen(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`No free port of 127.0.0.1 between ${FIRST_PORT} and ${LAST_PORT} in ${MOST_TRIES} tries.`);
}

/**
 * Starts something on a free port of its own, or on `port` when that is given. Somebody else may take a free port before it
 * is used: then another is tried.
 */
export async function onFreePort<T>(port: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await start(port ?? (await freePort()));
    } catch (error) {
      if (port !== undefined || errorCode(error) !== 'EADDRINUSE' || starts === MOST_STARTS) throw error;
    }
  }
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
