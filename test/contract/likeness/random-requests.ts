import type { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import type { Acl, CreateMode, MultiPart, Request, Watcher } from '../../../lib/session/requests.js';

const ANYONE: readonly Acl[] = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const READ_ONLY: readonly Acl[] = [{ permissions: 1, scheme: 'world', id: 'anyone' }];
const UNKNOWN_SCHEME: readonly Acl[] = [{ permissions: 31, scheme: 'nope', id: 'x' }];
const ACLS = [ANYONE, ANYONE, ANYONE, ANYONE, READ_ONLY, [], UNKNOWN_SCHEME];
const MODES: readonly CreateMode[] = [
  'persistent',
  'ephemeral',
  'persistent-sequential',
  'ephemeral-sequential',
  'container',
];
/** A small tree, so that requests meet: parents of several kinds, sequences, and a parent that is never there. */
const PATHS = [
  '/d',
  '/d/a',
  '/d/b',
  '/d/a/x',
  '/d/a/s-',
  '/d/s-',
  '/d/e',
  '/d/c',
  '/d/c/k',
  '/d/c/s-',
  '/d/none/x',
  '/d/é',
];

/** One request of any kind, as chance has it; most of them are refused for one reason or another, as they should be. */
export function randomRequest(random: SeededRandom, watch: Watcher): Request {
  const path = pick(random, PATHS);
  const watched = random.integer(2) === 0 ? { watch } : {};
  switch (random.integer(12)) {
    case 0:
    case 1:
      return { op: 'create', path: '/d', mode: 'persistent', acl: ANYONE };
    case 2:
      return { op: 'create', path: '/d/c', mode: 'container', acl: ANYONE };
    case 3:
    case 4:
    case 5:
      return randomWrite(random);
    case 6:
      return { op: 'multi', parts: Array.from({ length: 1 + random.integer(3) }, () => randomPart(random)) };
    case 7:
      return { op: 'exists', path, ...watched };
    case 8:
      return { op: 'get', path, ...watched };
    case 9:
    case 10:
      return { op: 'list', path, ...watched };
    default:
      return { op: 'create', path: '/d/c/s-', mode: 'ephemeral-sequential', data: Buffer.from('x'), acl: ANYONE };
  }
}

function randomPart(random: SeededRandom): MultiPart {
  if (random.integer(4) > 0) return randomWrite(random);
  return { op: 'check', path: pick(random, PATHS), version: randomVersion(random) };
}

function randomWrite(random: SeededRandom): Exclude<MultiPart, { op: 'check' }> {
  const path = pick(random, PATHS);
  switch (random.integer(4)) {
    case 0:
    case 1: {
      const data = Buffer.from('d'.repeat(random.integer(4)));
      return {
        op: 'create',
        path,
        mode: path === '/d' ? 'persistent' : pick(random, MODES),
        data,
        acl: pick(random, ACLS),
      };
    }
    case 2:
      return { op: 'delete', path, version: randomVersion(random) };
    default:
      return { op: 'set', path, data: Buffer.from('y'), version: randomVersion(random) };
  }
}

function randomVersion(random: SeededRandom): number {
  return random.integer(3) === 0 ? random.integer(3) : -1;
}

function pick<T>(random: SeededRandom, values: readonly T[]): T {
  return values[random.integer(values.length)]!;
}
