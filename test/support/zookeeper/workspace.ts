import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderRemoved, removeWithUs } from '../process/reaper.js';
import { errorCode } from '../process/error-code.js';
import type { ZooKeeperServer } from './server.js';

const MOST_STARTS = 3;

/** A temporary folder for servers, which is removed at the latest when the test process ends. */
export async function makeWorkspace(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'zookeeper-test-'));
  removeWithUs(folder);
  return folder;
}

/** Kills the servers and removes their folder. */
export async function clearWorkspace(folder: string, servers: readonly ZooKeeperServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.kill()));
  await rm(folder, { recursive: true, force: true });
  folderRemoved(folder);
}

/** Between choosing a port and listening on it somebody else may take it: then all is tried again with other ports. */
export async function withOtherPortsWhenTaken<T>(start: () => Promise<T>): Promise<T> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await start();
    } catch (error) {
      const isTaken = errorCode(error) === 'EADDRINUSE' || String(error).includes('Address already in use');
      if (!isTaken || starts === MOST_STARTS) throw error;
    }
  }
}
