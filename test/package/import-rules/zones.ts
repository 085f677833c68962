/**
 * A part of `lib/` with rules of its own. The port is `lib/session/*.ts`, what its implementations share is
 * `lib/session/core`; an extra is one folder of `lib/extras`.
 */
export type Zone =
  | 'index'
  | 'open'
  | 'lock'
  | 'queue'
  | 'port'
  | 'core'
  | 'wire'
  | 'kerberos'
  | 'native'
  | 'simulator'
  | 'engine'
  | 'fencing'
  | 'nest'
  | `extras/${string}`
  | 'unknown';

/** The zone of a file, by its path from the root of the repository. */
export function zoneOf(path: string): Zone {
  const [, first = '', second = '', third] = path.split('/');
  if (first === 'index.ts') return 'index';
  if (first === 'open.ts' || first === 'options.ts' || first === 'resolve-options.ts') return 'open';
  if (first === 'engine' && third !== undefined && !(second in ROOM_MAY_IMPORT)) return 'unknown';
  if (first === 'lock' || first === 'queue' || first === 'engine' || first === 'fencing' || first === 'nest')
    return first;
  if (first === 'session' && second.endsWith('.ts')) return 'port';
  if (
    first === 'session' &&
    (second === 'core' || second === 'wire' || second === 'kerberos' || second === 'native' || second === 'simulator')
  ) {
    return second;
  }
  if (first === 'extras' && third !== undefined) return `extras/${second}`;
  return 'unknown';
}

/** What a zone may import besides itself; fencing and the extras may also import the modules that `index.ts` exports from. */
const MAY_IMPORT: Partial<Record<Zone, readonly Zone[]>> = {
  index: ['open', 'lock', 'engine', 'nest', 'port'],
  open: ['engine', 'lock', 'port', 'core', 'wire'],
  queue: ['lock'],
  engine: ['queue', 'lock', 'port'],
  port: ['core', 'lock'],
  core: ['port', 'lock'],
  wire: ['port', 'core', 'lock'],
  kerberos: ['port', 'core', 'lock'],
  native: ['port', 'core', 'lock'],
  simulator: ['port', 'core', 'lock'],
  nest: ['open', 'engine', 'lock'],
  fencing: ['port'],
  // It reads and writes what contenders do.
  'extras/doctor': ['port', 'queue', 'lock'],
  'extras/shards': ['port'],
  'extras/cli': ['extras/doctor', 'extras/grpc', 'extras/shards'],
  'extras/dashboard': ['extras/doctor'],
  'extras/grpc': ['nest'],
  'extras/simulator': ['simulator', 'nest'],
  'extras/testing': ['simulator', 'nest'],
};

/** The part of fencing that is a Nest module; its stores and its signatures work without Nest. */
export const FENCING_IN_NEST = 'lib/fencing/http/';
/** The way through the classes of an application, which the explorers of locks and of fences share. */
const WAY_THROUGH_CLASSES = 'lib/nest/metadata.ts';

/** How texts of others are shown, for messages, logs, the command line and the pages alike. It imports nothing. */
const HOW_TEXTS_ARE_SHOWN = 'lib/lock/visible.ts';
/** What runs one operation after the other, for the engine and for stores. It imports nothing. */
const OPERATIONS_IN_TURN = 'lib/lock/in-turn.ts';

export type Room = 'bounds' | 'upkeep' | 'hold' | 'acquire' | 'several' | 'insight' | 'policy';

/**
 * The rooms of the engine, and those that each may import. The files beside the rooms are the words that all of them use, and
 * import none; but for those two that put the whole together.
 */
export const ROOM_MAY_IMPORT: Readonly<Record<Room, readonly Room[]>> = {
  bounds: [],
  upkeep: [],
  hold: ['bounds', 'upkeep'],
  acquire: ['bounds', 'upkeep', 'hold'],
  several: ['bounds', 'upkeep', 'hold', 'acquire'],
  insight: ['bounds', 'upkeep', 'hold', 'acquire'],
  policy: ['bounds', 'upkeep', 'hold', 'acquire'],
};
const ENGINE_AS_A_WHOLE = ['lib/engine/build-engine.ts', 'lib/engine/zookeeper-lock-service.ts'];

function whyNotRoom(from: string, to: string): string | undefined {
  if (ENGINE_AS_A_WHOLE.includes(from)) return undefined;
  if (ENGINE_AS_A_WHOLE.includes(to)) return `nobody inside the engine imports ${to}`;
  const [room, wanted] = [roomOf(from), roomOf(to)];
  if (wanted === undefined || wanted === room) return undefined;
  if (room === undefined) return `what the rooms of the engine share may not import engine/${wanted}`;
  return ROOM_MAY_IMPORT[room].includes(wanted) ? undefined : `engine/${room} may not import engine/${wanted}`;
}

/** @returns undefined for a file beside the rooms */
function roomOf(path: string): Room | undefined {
  const room = path.split('/').at(2)!;
  return room in ROOM_MAY_IMPORT ? (room as Room) : undefined;
}

/** Loaded on demand by the composition root, never with it. */
const ON_DEMAND: readonly Zone[] = ['kerberos', 'native', 'simulator', 'extras/shards'];

/** A session takes its errors, its time, a heap and the way out of a caller's context from `lock`, nothing else of what a lock is. */
const SESSION_ZONES: readonly Zone[] = ['port', 'core', 'wire', 'kerberos', 'native', 'simulator'];
const LOCK_FILES_FOR_SESSIONS = /^lib\/lock\/(errors|deadlines?|clock|heap|outside-calls)(\.ts$|\/)/;

/** Why one file of `lib/` may not import another, or `undefined` when it may. */
export function whyNotFile(
  from: string,
  to: string,
  kind: 'static' | 'dynamic',
  publicFiles: ReadonlySet<string>,
): string | undefined {
  const [importer, imported] = [zoneOf(from), zoneOf(to)];
  if (imported === 'index') return 'nobody inside imports index.ts';
  if (importer === 'open' && ON_DEMAND.includes(imported)) {
    return kind === 'dynamic' ? undefined : `open.ts loads ${imported} on demand, by import()`;
  }
  if (importer === imported) return importer === 'engine' ? whyNotRoom(from, to) : undefined;
  if (imported === 'lock' && SESSION_ZONES.includes(importer) && !LOCK_FILES_FOR_SESSIONS.test(to)) {
    return 'a session takes only errors, deadlines and the clock from lock';
  }
  if (MAY_IMPORT[importer]?.includes(imported) === true) return undefined;
  if (from.startsWith(FENCING_IN_NEST) && to === WAY_THROUGH_CLASSES) return undefined;
  if (importer === 'fencing' && to === OPERATIONS_IN_TURN) return undefined;
  const isForAll = publicFiles.has(to) || to === HOW_TEXTS_ARE_SHOWN;
  if ((importer === 'fencing' || importer.startsWith('extras/')) && isForAll) return undefined;
  return `${importer} may not import ${imported}`;
}
