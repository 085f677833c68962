/** A connection to PostgreSQL: a `Client` or a `PoolClient` of the package `pg` fits. */
export interface PostgresClient {
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<PostgresResult<Row>>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

export interface PostgresResult<Row extends object = Record<string, unknown>> {
  readonly rows: Row[];
  readonly rowCount: number | null;
  /** What the server did: `COMMIT`, or `ROLLBACK` where a transaction could not be committed. */
  readonly command: string;
}

export interface PostgresPoolClient extends PostgresClient {
  /** Gives the connection back; with an error it is closed, not used again. */
  release(error?: Error): void;
}

/** A pool of connections: a `Pool` of the package `pg` fits. */
export interface PostgresPool {
  /** Tells a pool from a single connection. */
  readonly totalCount: number;
  connect(): Promise<PostgresPoolClient>;
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<PostgresResult<Row>>;
}

export function isPool(from: PostgresPool | PostgresClient): from is PostgresPool {
  return 'totalCount' in from;
}
