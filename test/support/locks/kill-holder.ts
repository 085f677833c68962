import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { ofType, startNodeChild } from '../process/node-child.js';
import { TICK_MS } from './times.js';

/** A process with the shortest of sessions takes the lock and is killed. @returns the token that it had */
export async function killHolder(
  connect: string,
  key: string,
  options: AcquireOptions,
  tickMs = TICK_MS,
): Promise<bigint> {
  const script = new URL('./holding-process.ts', import.meta.url);
  const args = [connect, String(tickMs), key, JSON.stringify(options)];
  await using holder = await startNodeChild(script, { args });
  const { token } = await holder.next('holds', ofType('holds'));
  await holder.kill();
  return token as bigint;
}
