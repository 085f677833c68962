/** Whom the servers have inside a key, read without the code under test. */
export interface RawHolder {
  readonly name: string;
  readonly token: string;
  readonly pid: number;
  readonly checkpoint?: unknown;
}

export interface RawRecord {
  readonly inside?: RawHolder;
  readonly abandoned?: RawHolder;
}

export function readRecord(data: Uint8Array): RawRecord {
  return data.length === 0 ? {} : (JSON.parse(Buffer.from(data).toString()) as RawRecord);
}
