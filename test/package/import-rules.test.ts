import { readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { breaches } from './import-rules/check.js';
import { HOME_OF_OPTIONAL_PEER, type Manifest } from './import-rules/packages.js';
import { type Room, ROOM_MAY_IMPORT } from './import-rules/zones.js';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;

function sourcesOf(...folders: string[]): Map<string, string> {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const paths = files.filter((file) => file.endsWith('.ts'));
  return new Map(paths.map((path) => [path.split(sep).join('/'), readFileSync(join(root, path), 'utf8')]));
}

describe('the import rules', () => {
  it('are kept by the library and the sample application', () => {
    const sources = sourcesOf('lib', 'sample-app');

    expect(sources.has('lib/index.ts')).toBe(true);
    expect(breaches(sources, manifest)).toEqual([]);
  });

  it('allow no circle of rooms in the engine, of types neither', () => {
    const rooms = Object.keys(ROOM_MAY_IMPORT) as Room[];

    expect(rooms.filter((room) => roomsBelow(room).has(room))).toEqual([]);
  });

  it('know the home of every optional peer', () => {
    const peers = Object.entries(manifest.peerDependenciesMeta ?? {}).filter(([, meta]) => meta.optional === true);

    expect(peers.map(([name]) => name).sort()).toEqual(Object.keys(HOME_OF_OPTIONAL_PEER).sort());
  });
});

/** The rooms of the engine that this one may import, those that they may import, and so on. */
function roomsBelow(room: Room, found = new Set<Room>()): ReadonlySet<Room> {
  for (const below of ROOM_MAY_IMPORT[room]) {
    if (found.has(below)) continue;
    found.add(below);
    roomsBelow(below, found);
  }
  return found;
}

/** A library that keeps every rule; each case below adds one offence to it. */
const GOOD: Record<string, string> = {
  'lib/index.ts': `export { openLocks } from './open.js'; export { Held } from './lock/handle.js';`,
  'lib/open.ts': `import { Wire } from './session/wire/client.js'; const native = () => import('./session/native/client.js');`,
  'lib/lock/handle.ts': `export class Held {}`,
  'lib/lock/keys.ts': `export const keys = 1;`,
  'lib/lock/visible.ts': `export const visible = 1;`,
  'lib/lock/in-turn.ts': `export const inTurn = 1;`,
  'lib/lock/errors.ts': `import { IntrinsicException } from '@nestjs/common';`,
  'lib/queue/order.ts': `import type { Held } from '../lock/handle.js';`,
  'lib/session/session.ts': `import { LockError } from '../lock/errors.js'; import { shared } from './core/shared.js';`,
  'lib/session/core/shared.ts': `import type { Session } from '../session.js';`,
  'lib/session/wire/client.ts': `import net from 'node:net'; import { shared } from '../core/shared.js';`,
  'lib/session/native/client.ts': `import { shared } from '../core/shared.js';`,
  'lib/session/simulator/ensemble.ts': `import type { Session } from '../session.js';`,
  'lib/engine/build-engine.ts': `import { Hold } from './hold/hold.js';`,
  'lib/engine/hold/hold.ts': `import { scope } from '../bounds/scope.js'; import { words } from '../words.js';`,
  'lib/engine/bounds/scope.ts': `export const scope = 1;`,
  'lib/engine/words.ts': `export const words = 1;`,
  'lib/engine/acquire.ts': `import { order } from '../queue/order.js'; import type { Session } from '../session/session.js';`,
  'lib/nest/module.ts': `import { Module } from '@nestjs/common'; import { openLocks } from '../open.js';`,
  'lib/fencing/fence.ts': `import { Held } from '../lock/handle.js'; import type { Session } from '../session/session.js';`,
  'lib/fencing/store.ts': `import { inTurn } from '../lock/in-turn.js';`,
  'lib/fencing/http/guard.ts': `import { Injectable } from '@nestjs/common'; import { methodsOf } from '../../nest/metadata.js';`,
  'lib/nest/metadata.ts': `export const methodsOf = 1;`,
  'lib/extras/metrics/counters.ts': `import { Held } from '../../lock/handle.js';`,
  'lib/extras/dashboard/html.ts': `import { visible } from '../../lock/visible.js';`,
  'lib/extras/terminus/indicator.ts': `import { HealthIndicatorService } from '@nestjs/terminus';`,
  'lib/extras/testing/harness.ts': `import { Ensemble } from '../../session/simulator/ensemble.js';`,
  'sample-app/main.ts': `import { Held } from 'nestjs-zookeeper-lock'; import './app.js';`,
};

const OFFENCES: { offence: string; path: string; source: string; expected: string }[] = [
  {
    offence: 'somebody inside imports index.ts',
    path: 'lib/engine/x.ts',
    source: `import { Held } from '../index.js';`,
    expected: 'nobody inside imports index.ts',
  },
  {
    offence: 'somebody inside imports the package by its name',
    path: 'lib/nest/x.ts',
    source: `import { Held } from 'nestjs-zookeeper-lock';`,
    expected: 'nobody inside imports index.ts',
  },
  {
    offence: 'a lock knows Nest outside its errors file',
    path: 'lib/lock/x.ts',
    source: `import { Logger } from '@nestjs/common';`,
    expected: 'Nest is for lib/nest, lib/fencing/http/, the extras and lib/lock/errors.ts',
  },
  {
    offence: 'a lock does input or output',
    path: 'lib/lock/x.ts',
    source: `import { readFile } from 'node:fs/promises';`,
    expected: 'lock does no input or output',
  },
  {
    offence: 'the queue looks at the session, be it for a type',
    path: 'lib/queue/x.ts',
    source: `import type { Session } from '../session/session.js';`,
    expected: 'queue may not import port',
  },
  {
    offence: 'the engine knows an implementation of the port',
    path: 'lib/engine/x.ts',
    source: `export { Wire } from '../session/wire/client.js';`,
    expected: 'engine may not import wire',
  },
  {
    offence: 'the engine loads an implementation of the port later',
    path: 'lib/engine/x.ts',
    source: `export const load = () => import('../session/simulator/ensemble.js');`,
    expected: 'engine may not import simulator',
  },
  {
    offence: 'a room of the engine leans on one that stands on it',
    path: 'lib/engine/bounds/x.ts',
    source: `import type { Hold } from '../hold/hold.js';`,
    expected: 'engine/bounds may not import engine/hold',
  },
  {
    offence: 'what the rooms of the engine share knows one of them',
    path: 'lib/engine/x.ts',
    source: `import type { Hold } from './hold/hold.js';`,
    expected: 'what the rooms of the engine share may not import engine/hold',
  },
  {
    offence: 'a room of the engine knows the whole',
    path: 'lib/engine/hold/x.ts',
    source: `import { buildEngine } from '../build-engine.js';`,
    expected: 'nobody inside the engine imports lib/engine/build-engine.ts',
  },
  {
    offence: 'the engine has a room that the rules do not know',
    path: 'lib/engine/attic/x.ts',
    source: `export const x = 1;`,
    expected: 'lib/engine/attic/x.ts is in no folder that the rules know',
  },
  {
    offence: 'one implementation of the port leans on another',
    path: 'lib/session/simulator/x.ts',
    source: `import { Wire } from '../wire/client.js';`,
    expected: 'simulator may not import wire',
  },
  {
    offence: 'what sessions share leans on one of them',
    path: 'lib/session/core/x.ts',
    source: `type Wire = import('../wire/client.js').Wire;`,
    expected: 'core may not import wire',
  },
  {
    offence: 'a session takes more of a lock than its errors and its time',
    path: 'lib/session/wire/x.ts',
    source: `import { keys } from '../../lock/keys.js';`,
    expected: 'a session takes only errors, deadlines and the clock from lock',
  },
  {
    offence: 'the composition root loads the native session with itself',
    path: 'lib/open.ts',
    source: `import { native } from './session/native/client.js';`,
    expected: 'open.ts loads native on demand, by import()',
  },
  {
    offence: 'the composition root loads the ensemble in memory with itself',
    path: 'lib/open.ts',
    source: `import { Ensemble } from './session/simulator/ensemble.js';`,
    expected: 'open.ts loads simulator on demand, by import()',
  },
  {
    offence: 'an optional peer is imported outside its folder',
    path: 'lib/nest/x.ts',
    source: `import type { HealthIndicatorService } from '@nestjs/terminus';`,
    expected: 'the optional peer @nestjs/terminus is imported in lib/extras/terminus/ alone',
  },
  {
    offence: 'a static way leads from index.ts to an optional peer',
    path: 'lib/open.ts',
    source: `import { indicator } from './extras/terminus/indicator.js';`,
    expected: 'the optional peer @nestjs/terminus is loaded with index.ts',
  },
  {
    offence: 'a package is used that nobody is told to install',
    path: 'lib/session/native/x.ts',
    source: `import ZooKeeper from 'zookeeper';`,
    expected: 'zookeeper is no dependency and no peer of the package',
  },
  {
    offence: 'a package is used that only development has',
    path: 'lib/session/wire/x.ts',
    source: `import fc from 'fast-check';`,
    expected: 'fast-check is no dependency and no peer of the package',
  },
  {
    offence: 'an extra imports a file whose names are not public',
    path: 'lib/extras/metrics/x.ts',
    source: `import { order } from '../../queue/order.js';`,
    expected: 'extras/metrics may not import queue',
  },
  {
    offence: 'an extra takes more of what a lock is than is public, and than how texts are shown',
    path: 'lib/extras/dashboard/x.ts',
    source: `import { visible } from '../../lock/visible.js'; import { keys } from '../../lock/keys.js';`,
    expected: 'extras/dashboard may not import lock',
  },
  {
    offence: 'an extra takes what runs the operations of a store in turn',
    path: 'lib/extras/metrics/x.ts',
    source: `import { inTurn } from '../../lock/in-turn.js';`,
    expected: 'extras/metrics may not import lock',
  },
  {
    offence: 'fencing imports a file whose names are not public',
    path: 'lib/fencing/x.ts',
    source: `import { order } from '../queue/order.js';`,
    expected: 'fencing may not import queue',
  },
  {
    offence: 'a store that refuses a stale token looks through the classes of the application',
    path: 'lib/fencing/redis/x.ts',
    source: `import { methodsOf } from '../../nest/metadata.js';`,
    expected: 'fencing may not import nest',
  },
  {
    offence: 'fencing takes more of lib/nest than the way through the classes',
    path: 'lib/fencing/http/x.ts',
    source: `import { openLocks } from '../../nest/module.js';`,
    expected: 'fencing may not import nest',
  },
  {
    offence: 'the rest of the library leans on fencing',
    path: 'lib/nest/x.ts',
    source: `import { fence } from '../fencing/fence.js';`,
    expected: 'nest may not import fencing',
  },
  {
    offence: 'a store that refuses a stale token knows Nest',
    path: 'lib/fencing/redis/x.ts',
    source: `import { Injectable } from '@nestjs/common';`,
    expected: 'Nest is for lib/nest, lib/fencing/http/, the extras',
  },
  {
    offence: 'an extra imports another extra',
    path: 'lib/extras/dashboard/x.ts',
    source: `import { counters } from '../metrics/counters.js';`,
    expected: 'extras/dashboard may not import extras/metrics',
  },
  {
    offence: 'the library imports a test',
    path: 'lib/engine/x.ts',
    source: `import { help } from '../../test/support/help.js';`,
    expected: 'it is outside lib',
  },
  {
    offence: 'an import leads nowhere',
    path: 'lib/engine/x.ts',
    source: `import { gone } from './gone.js';`,
    expected: 'there is no lib/engine/gone.ts',
  },
  {
    offence: 'the name of a module is computed',
    path: 'lib/engine/x.ts',
    source: `export const load = (name: string) => import(name);`,
    expected: 'a computed name cannot be checked',
  },
  {
    offence: 'a folder appears that the rules do not know',
    path: 'lib/helpers/x.ts',
    source: `export const help = 1;`,
    expected: 'lib/helpers/x.ts is in no folder that the rules know',
  },
  {
    offence: 'the sample application imports the sources',
    path: 'sample-app/x.ts',
    source: `import { Held } from '../lib/lock/handle.js';`,
    expected: 'the sample imports the package by its name',
  },
  {
    offence: 'the sample application reaches inside the package',
    path: 'sample-app/x.ts',
    source: `import { Held } from 'nestjs-zookeeper-lock/dist/lib/lock/handle.js';`,
    expected: 'it is inside the package',
  },
];

describe('the checker of the import rules', () => {
  const peers: Manifest = {
    peerDependencies: { '@nestjs/common': '*', '@nestjs/terminus': '*' },
    peerDependenciesMeta: { '@nestjs/terminus': { optional: true } },
  };
  const check = (sources: Record<string, string>) => breaches(new Map(Object.entries(sources)), peers);

  it('has nothing against a library that keeps them', () => {
    expect(check(GOOD)).toEqual([]);
  });

  it('does not take comments and texts for imports', () => {
    expect(
      check({ ...GOOD, 'lib/queue/x.ts': `// import '../index.js';\nexport const text = "import '../index.js'";` }),
    ).toEqual([]);
  });

  it.each(OFFENCES)('reports when $offence', ({ path, source, expected }) => {
    const reports = check({ ...GOOD, [path]: source });

    expect(reports.join('\n')).toContain(expected);
    expect(reports.join('\n')).toContain(path);
  });
});
