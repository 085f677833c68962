import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lockFile = join(import.meta.dirname, '..', '..', 'package-lock.json');
const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};

describe('package-lock.json', () => {
  // A registry mirror that lacks the binaries of other platforms makes npm leave them out, and `npm ci` then refuses the
  // file everywhere.
  it('has an entry for every optional dependency, those of other platforms too', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) =>
          packages[`node_modules/${name}`] === undefined && packages[`${path}/node_modules/${name}`] === undefined,
      ),
    );

    expect(missing).toEqual([]);
  });

  it('names no server but the public registry', () => {
    const elsewhere = Object.values(packages).flatMap(({ resolved }) =>
      resolved === undefined || resolved.startsWith('https://registry.npmjs.org/') ? [] : [resolved],
    );

    expect(elsewhere).toEqual([]);
  });

  it('does not hold the package that compiles C at install', () => {
    expect(packages['node_modules/zookeeper']).toBeUndefined();
  });
});
