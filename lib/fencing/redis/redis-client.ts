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
