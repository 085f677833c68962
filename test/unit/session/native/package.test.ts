import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { findPackage } from '../../../../lib/session/native/package.js';

function applicationWith(version: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'application-'));
  if (version !== undefined) {
    const found = join(folder, 'node_modules', 'zookeeper');
    mkdirSync(found, { recursive: true });
    writeFileSync(join(found, 'package.json'), JSON.stringify({ name: 'zookeeper', version, main: 'index.js' }));
    writeFileSync(join(found, 'index.js'), 'throw new Error("The main thread must never load it.")');
  }
  return join(folder, 'main.js');
}

function failureOf(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

describe('The package zookeeper', () => {
  it('is found where the application has it, without being loaded', () => {
    const main = applicationWith('7.3.4');

    expect(findPackage([applicationWith(undefined), main])).toBe(
      main.replace('main.js', 'node_modules/zookeeper/index.js'),
    );
  });

  it('is an error of configuration where it is missing, which says how to install it', () => {
    const failure = failureOf(() => findPackage([applicationWith(undefined)]));

    expect(failure).toBeInstanceOf(LockConfigurationError);
    expect(failure).toMatchObject({ message: expect.stringContaining('npm install zookeeper@~7.3.0') });
  });

  it.each(['6.0.0', '7.2.1', '8.0.0'])('is refused in version %s: its behaviour in detail is relied on', (version) => {
    expect(failureOf(() => findPackage([applicationWith(version)]))).toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining(`found ${version}`),
    });
  });
});
