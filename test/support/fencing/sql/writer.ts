import { claimWith } from '../../../../lib/fencing/sql/claim-with.js';
import { isToRepeat, type SqlConnection } from './sql-world.js';

export const RESOURCE = '/locks/documents/one';

/** How one write of a holder went: `accepted`, the code of the refusal, or that the database wants the transaction repeated. */
export type WriteOutcome = string;

export interface Steps {
  /** Runs in the transaction, before the claim. */
  readonly beforeClaim?: () => Promise<unknown>;
  /** Runs in the transaction, between the claim and the write. */
  readonly afterClaim?: () => Promise<unknown>;
  readonly level?: string | undefined;
}

/** In one transaction: claims, reads the document, adds the entry to it. Nothing is tried twice. */
export async function addEntry(
  connection: SqlConnection,
  token: bigint,
  entry: string,
  { beforeClaim, afterClaim, level }: Steps = {},
): Promise<WriteOutcome> {
  const { dialect } = connection;
  try {
    await connection.begin(level);
    await beforeClaim?.();
    await claimWith((sql, params) => connection.run(sql, params), RESOURCE, token, { dialect });
    await afterClaim?.();
    const [document] = await connection.rows(`SELECT content FROM documents WHERE name = 'one'`);
    // Entries are made of letters and digits.
    await connection.run(
      `UPDATE documents SET content = '${String(document?.['content'])}${entry},' WHERE name = 'one'`,
    );
    await connection.run(`INSERT INTO writes (token) VALUES ('${token}')`);
    await connection.run('COMMIT');
    return 'accepted';
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    if (isToRepeat(error)) return 'to repeat';
    return String((error as { code?: unknown }).code ?? error);
  }
}

/** The entries of the document. */
export async function entriesOf(connection: SqlConnection): Promise<string[]> {
  const [document] = await connection.rows(`SELECT content FROM documents WHERE name = 'one'`);
  return String(document?.['content']).split(',').slice(0, -1);
}

/** The mark of the resource; undefined where there is none. */
export async function markOf(connection: SqlConnection, resource = RESOURCE): Promise<string | undefined> {
  const asText = { postgres: 'token::text', mysql: 'CAST(token AS CHAR)', sqlite: 'CAST(token AS TEXT)' };
  const placeholder = connection.dialect === 'postgres' ? '$1' : '?';
  const sql = `SELECT ${asText[connection.dialect]} AS mark FROM fencing_marks WHERE resource = ${placeholder}`;
  const [row] = await connection.rows(sql, [resource]);
  return row === undefined ? undefined : String(row['mark']);
}
