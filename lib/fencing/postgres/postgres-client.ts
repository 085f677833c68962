/** What is asked of a connection to PostgreSQL; a `Client` of the package `pg` is one, and so is a `PoolClient`. */
export interface PostgresClient {
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<PostgresResult<Row>>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

export interface PostgresResult<Row extends object = Record<string, unknown>> {
  readonly rows: Row[];
  readonly rowCount: number | null;
  /** What the server says that it did: `COMMIT`, or `ROLLBACK` where a transaction could not be committed. */
  readonly command: string;
}

export interface PostgresPoolClient extends PostgresClient {
  /** Gives the connection back; with an error it is closed, not used again. */
  release(error?: Error): void;
}

/** What is asked of a pool; a `Pool` of the package `pg` is one. */
export interface PostgresPool {
  /** Tells a pool from a single connection. */
  readonly totalCount: number;
  connect(): Promise<PostgresPoolClient>;
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<PostgresResult<Row>>;
}

export function isPool(from: PostgresPool | PostgresClient): from is PostgresPool {
  return 'totalCount' in from;
}
