import type { NativeCall } from './protocol.js';

/** The part of the package's client that is used. Its `a_` methods return 0, or call nobody back. */
export interface PackageClient {
  readonly native: Readonly<
    Record<NativeCall['method'], (...args: unknown[]) => number> & { set_servers(servers: string): number }
  >;
  readonly state: number;
  readonly client_id: string;
  readonly client_password: string;
  /** The time-out that the server granted. */
  readonly timeout: number;
  on(event: string, listener: (client: unknown, value: string | number) => void): void;
  init(config: object): void;
  close(): void;
}

export type Package = new (config: object) => PackageClient;
