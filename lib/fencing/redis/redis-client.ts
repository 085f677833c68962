/** A connection to Redis: a `Redis` or a `Cluster` of the package `ioredis` fits. */
export interface RedisClient {
  /** Sends one command. Texts in the answer come as bytes. */
  callBuffer(command: string, parameters: (string | Buffer)[]): Promise<unknown>;
}

type Command = 'config' | 'eval' | 'evalsha' | 'info';
type OwnMethod = (...parameters: (string | Buffer)[]) => Promise<unknown>;

/**
 * Sends a command by the method that `ioredis` has for it, of which its types do not tell. With `enableAutoPipelining` its
 * `callBuffer` throws where nobody can catch it, and never answers.
 */
export function send(client: RedisClient, command: Command, parameters: (string | Buffer)[]): Promise<unknown> {
  const own = (client as RedisClient & Partial<Record<`${Command}Buffer`, OwnMethod>>)[`${command}Buffer`];
  return own === undefined ? client.callBuffer(command, parameters) : own.call(client, ...parameters);
}

/** A script that Redis runs as one step. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/** Sends the script's name only, and the whole script where Redis does not know it yet, or not any more. */
export async function run(
  client: RedisClient,
  { text, sha1 }: Script,
  key: string,
  args: (string | Buffer)[],
): Promise<unknown> {
  try {
    return await send(client, 'evalsha', [sha1, '1', key, ...args]);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return send(client, 'eval', [text, '1', key, ...args]);
  }
}
