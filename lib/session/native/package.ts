import { createRequire } from 'node:module';
import { join } from 'node:path';
import { LockConfigurationError } from '../../lock/errors.js';

/**
 * This code relies on how the package's versions 7.3 behave in detail, such as on what `set_servers` does to a
 * connection.
 */
const VERSIONS = /^7\.3\.\d+$/;
const INSTALL = 'npm install zookeeper@~7.3.0';

/**
 * Finds the package without loading it. It is the application's dependency, so it is searched for from the application's
 * main file, and then from the working directory.
 * @param from files beside which to look
 * @throws LockConfigurationError
 */
export function findPackage(from = whereTheApplicationIs()): string {
  const { path, version } = locate(from);
  if (VERSIONS.test(version)) return path;
  throw new LockConfigurationError(
    `client: 'native' was made for zookeeper 7.3, and found ${version}: install that one (${INSTALL}), or use the client 'wire'`,
  );
}

function whereTheApplicationIs(): readonly string[] {
  const [, main] = process.argv;
  return [...(main === undefined ? [] : [main]), join(process.cwd(), 'here')];
}

function locate(from: readonly string[]): { readonly path: string; readonly version: string } {
  let cause: unknown;
  for (const start of from) {
    const find = createRequire(start);
    try {
      const { version } = find('zookeeper/package.json') as { readonly version: string };
      return { path: find.resolve('zookeeper'), version };
    } catch (error) {
      cause ??= error;
    }
  }
  throw unusable('it is not installed where the application is', cause);
}

/** The error where the package cannot be used. Another attempt would end in the same way. */
export function unusable(reason: string, cause?: unknown): LockConfigurationError {
  const text = `client: 'native' needs the package zookeeper, and ${reason}. Install it, with its install script (${INSTALL}), or use the client 'wire'`;
  return new LockConfigurationError(text, undefined, { cause });
}
