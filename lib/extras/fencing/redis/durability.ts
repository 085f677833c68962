import { LockConfigurationError } from '../../../lock/errors.js';
import { type RedisClient, send } from './redis-client.js';

/** What Redis must be told so that it does not forget a mark that it has acknowledged. */
const NEEDED: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  // With yes nothing is synced while the log is rewritten.
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
};

/**
 * Asks the server that `client` speaks to; of a cluster, one.
 * @throws LockConfigurationError that names what is to be changed
 */
export async function checkDurabilityOf(client: RedisClient): Promise<void> {
  const wrong: string[] = [];
  for (const [name, needed] of Object.entries(NEEDED)) {
    const value = await configValue(client, name);
    if (value !== needed) wrong.push(`${name} ${needed} (it is ${value})`);
  }
  if (wrong.length === 0) return;
  throw new LockConfigurationError(
    `This Redis may forget a fencing token that it has acknowledged, and then accept a stale writer. Set ${wrong.join(', ')}`,
  );
}

async function configValue(client: RedisClient, name: string): Promise<string> {
  let answer: unknown;
  try {
    answer = await send(client, 'config', ['GET', name]);
  } catch (error) {
    throw new LockConfigurationError(`Redis does not tell its ${name}: ask those who run it`, undefined, {
      cause: error,
    });
  }
  // Name and value, as a list or, in the newer protocol, as a map.
  const [, value] = (answer instanceof Map ? [...answer].flat() : answer) as unknown[];
  return Buffer.isBuffer(value) ? value.toString() : String(value);
}
