/** What is asked of a connection to Redis; a `Redis` and a `Cluster` of the package `ioredis` are such. */
export interface RedisClient {
  /** Sends one command; what is text in the answer comes as bytes. */
  callBuffer(command: string, parameters: (string | Buffer)[]): Promise<unknown>;
}
