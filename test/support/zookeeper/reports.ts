/** What the four-letter words say, as values. Session ids are bigint; in the reports they are unsigned hexadecimal. */

export type Role = 'leader' | 'follower' | 'observer' | 'standalone' | 'none';

export interface ConnectionReport {
  /** `127.0.0.1:port` of the client's end. */
  peer: string;
  /** `undefined` for a connection without a session, such as the one that asks. */
  sessionId: bigint | undefined;
  /** The granted session timeout. */
  timeoutMs: number | undefined;
  /** Replies that wait to be read by the client. */
  queued: number;
  received: number;
  sent: number;
  /** The name of its last operation, such as PING. */
  lastOperation: string | undefined;
}

export interface SessionReport {
  /** All sessions this server knows (the leader's list is complete, a follower's has those of its own connections at least). */
  sessionIds: bigint[];
  /** Ephemeral nodes by the session they belong to. */
  ephemerals: Map<bigint, string[]>;
}

/** Of `srvr`; `none` while the server is not serving, for want of a quorum. */
export function parseRole(srvr: string): Role {
  const mode = /^Mode: (\w+)/m.exec(srvr)?.[1];
  return mode === 'leader' || mode === 'follower' || mode === 'observer' || mode === 'standalone' ? mode : 'none';
}

/** Of `wchs`: watches set, each path of each session counting as one. */
export function parseWatchCount(wchs: string): number {
  const total = /^Total watches:\s*(\d+)/m.exec(wchs)?.[1];
  if (total === undefined) throw new Error(`No total in the answer to wchs: ${wchs}`);
  return Number(total);
}

/** Of `wchp`: the sessions that watch each path. */
export function parseWatchesByPath(wchp: string): Map<string, bigint[]> {
  return parseIndented(wchp, (line) => line, sessionIdOf);
}

/** Of `mntr`: figures as numbers, the rest as text. */
export function parseMonitor(mntr: string): Map<string, number | string> {
  const entries = mntr
    .split('\n')
    .map((line) => line.split('\t'))
    .filter((columns) => columns.length === 2);
  return new Map(
    entries.map(([name = '', value = '']) => [
      name,
      value !== '' && !Number.isNaN(Number(value)) ? Number(value) : value,
    ]),
  );
}

/** Of `cons`. */
export function parseConnections(cons: string): ConnectionReport[] {
  const reports: ConnectionReport[] = [];
  for (const [, peer = '', details = ''] of cons.matchAll(/^\s*\/?(\S+?)\[\d+\]\((.*)\)\s*$/gm)) {
    const values = new Map(details.split(',').map((pair) => pair.split('=', 2) as [string, string]));
    const figure = (name: string): number | undefined => (values.has(name) ? Number(values.get(name)) : undefined);
    const sessionId = values.get('sid');
    reports.push({
      peer,
      sessionId: sessionId === undefined ? undefined : sessionIdOf(sessionId),
      timeoutMs: figure('to'),
      queued: figure('queued') ?? 0,
      received: figure('recved') ?? 0,
      sent: figure('sent') ?? 0,
      lastOperation: values.get('lop'),
    });
  }
  return reports;
}

/** Of `dump`. */
export function parseDump(dump: string): SessionReport {
  const [sessions = '', rest = ''] = dump.split(/^ephemeral nodes dump:\n/m, 2);
  const [nodes = ''] = rest.split(/^Connections dump:\n/m, 1);
  return {
    sessionIds: [...new Set([...sessions.matchAll(/^\s*(0x[0-9a-f]+)\b/gm)].map(([, id = '']) => sessionIdOf(id)))],
    ephemerals: parseIndented(nodes, sessionIdOf, (line) => line, /^0x[0-9a-f]+:$/),
  };
}

/** Titles at the margin, each followed by its lines, indented by a tab. */
function parseIndented<Title, Line>(
  report: string,
  titleOf: (line: string) => Title,
  lineOf: (line: string) => Line,
  titles = /^\S/,
): Map<Title, Line[]> {
  const result = new Map<Title, Line[]>();
  let lines: Line[] | undefined;
  for (const line of report.split('\n')) {
    if (line.startsWith('\t')) lines?.push(lineOf(line.trim()));
    else if (titles.test(line)) {
      lines = [];
      result.set(titleOf(line), lines);
    } else lines = undefined;
  }
  return result;
}

function sessionIdOf(hexadecimal: string): bigint {
  return BigInt.asIntN(64, BigInt(hexadecimal.replace(/:$/, '')));
}
