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
  | 'native'
  | 'simulator'
  | 'engine'
  | 'nest'
  | `extras/${string}`
  | 'unknown';

/** The zone of a file, by its path from the root of the repository. */
export function zoneOf(path: string): Zone {
  const [, first = '', second = '', third] = path.split('/');
  if (first === 'index.ts') return 'index';
  if (first === 'open.ts' || first === 'options.ts' || first === 'resolve-options.ts') return 'open';
  if (first === 'lock' || first === 'queue' || first === 'engine' || first === 'nest') return first;
  if (first === 'session' && second.endsWith('.ts')) return 'port';
  if (
    first === 'session' &&
    (second === 'core' || second === 'wire' || second === 'native' || second === 'simulator')
  ) {
    return second;
  }
  if (first === 'extras' && third !== undefined) return `extras/${second}`;
  return 'unknown';
}

/** What a zone may import besides itself; an extra may also import the modules that `index.ts` exports from. */
const MAY_IMPORT: Partial<Record<Zone, readonly Zone[]>> = {
  index: ['open', 'lock', 'engine', 'nest', 'port'],
  open: ['engine', 'lock', 'port', 'core', 'wire'],
  queue: ['lock'],
  engine: ['queue', 'lock', 'port'],
  port: ['core', 'lock'],
  core: ['port', 'lock'],
  wire: ['port', 'core', 'lock'],
  native: ['port', 'core', 'lock'],
  simulator: ['port', 'core', 'lock'],
  nest: ['open', 'engine', 'lock'],
  'extras/doctor': ['port'],
  'extras/fencing': ['port'],
  'extras/shards': ['port'],
  'extras/cli': ['extras/doctor', 'extras/grpc', 'extras/shards'],
  'extras/dashboard': ['extras/doctor'],
  'extras/grpc': ['nest'],
  'extras/testing': ['simulator', 'nest'],
};

/** Loaded on demand by the composition root, never with it. */
const ON_DEMAND: readonly Zone[] = ['native', 'simulator', 'extras/shards'];

/** A session takes its errors, its time and the way out of a caller's context from `lock`, nothing else of what a lock is. */
const SESSION_ZONES: readonly Zone[] = ['port', 'core', 'wire', 'native', 'simulator'];
const LOCK_FILES_FOR_SESSIONS = /^lib\/lock\/(errors|deadlines?|clock|outside-calls)(\.ts$|\/)/;

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
  if (importer === imported) return undefined;
  if (imported === 'lock' && SESSION_ZONES.includes(importer) && !LOCK_FILES_FOR_SESSIONS.test(to)) {
    return 'a session takes only errors, deadlines and the clock from lock';
  }
  if (MAY_IMPORT[importer]?.includes(imported) === true) return undefined;
  if (importer.startsWith('extras/') && publicFiles.has(to)) return undefined;
  return `${importer} may not import ${imported}`;
}
