import { LockConfigurationError } from '../../lock/errors.js';
import { type RedisClient, send } from './redis-client.js';

/** The settings of a Redis that does not forget a mark after it has acknowledged it. */
const NEEDED: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  // With `yes` Redis syncs nothing while it rewrites its log.
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
  if (wrong.length > 0) throw forgetful(`Set ${wrong.join(', ')}`);
  const inactive = whyInactive(await persistence(client));
  if (inactive !== undefined) throw forgetful(inactive);
}

/** Why a server that is told to keep a log does not keep one yet, or not any more. */
function whyInactive(facts: ReadonlyMap<string, string>): string | undefined {
  if (facts.get('aof_enabled') !== '1') {
    return `It is told to keep an append-only file and keeps none (aof_enabled:${facts.get('aof_enabled')}): look at its log`;
  }
  // Before the first whole log is there, Redis writes to a temporary file, which no start reads.
  const isBeingWritten = facts.get('aof_rewrite_in_progress') === '1' || facts.get('aof_rewrite_scheduled') === '1';
  if (isBeingWritten && facts.get('aof_base_size') === '0') {
    return 'Its append-only file was just turned on and is still being made: ask again when that is done';
  }
  const status = facts.get('aof_last_write_status');
  return status === 'ok' ? undefined : `Its last write to the append-only file failed (${status}): is its disk full?`;
}

/** The lines `name:value` of INFO. */
async function persistence(client: RedisClient): Promise<ReadonlyMap<string, string>> {
  const answer = textOf(await asked(client, 'info', ['persistence'], 'persistence'));
  const pairs = answer.split('\r\n').map((line) => line.split(':'));
  return new Map(pairs.filter((pair): pair is [string, string] => pair.length === 2));
}

async function configValue(client: RedisClient, name: string): Promise<string> {
  const answer = await asked(client, 'config', ['GET', name], name);
  // The answer is name and value, as a list or, in the newer protocol, as a map.
  const [, value] = (answer instanceof Map ? [...answer].flat() : answer) as unknown[];
  return textOf(value);
}

async function asked(client: RedisClient, command: 'config' | 'info', args: string[], what: string): Promise<unknown> {
  try {
    return await send(client, command, args);
  } catch (error) {
    const text = `Redis does not tell its ${what} to this client: ask the people who run it`;
    throw new LockConfigurationError(text, undefined, { cause: error });
  }
}

function textOf(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString() : String(value);
}

function forgetful(whatToDo: string): LockConfigurationError {
  return new LockConfigurationError(
    `This Redis may forget a fencing token that it has acknowledged, and then accept a stale writer. ${whatToDo}`,
  );
}
