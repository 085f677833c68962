/** What is asked of a connection to Redis; a `Redis` and a `Cluster` of the package `ioredis` are such. */
export interface RedisClient {
  /** Sends one command; what is text in the answer comes as bytes. */
  callBuffer(command: string, parameters: (string | Buffer)[]): Promise<unknown>;
}

type Command = 'config' | 'eval' | 'evalsha' | 'info';
type OwnMethod = (...parameters: (string | Buffer)[]) => Promise<unknown>;

/**
 * By the method that `ioredis` has for the command, though its types do not tell of it: with `enableAutoPipelining` its
 * `callBuffer` throws where nobody can catch it, and never answers.
 */
export function send(client: RedisClient, command: Command, parameters: (string | Buffer)[]): Promise<unknown> {
  const own = (client as RedisClient & Partial<Record<`${Command}Buffer`, OwnMethod>>)[`${command}Buffer`];
  return own === undefined ? client.callBuffer(command, parameters) : own.call(client, ...parameters);
}
