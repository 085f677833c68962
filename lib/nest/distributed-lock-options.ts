import { LockConfigurationError } from '../lock/errors.js';
import { shown } from '../lock/shown.js';
import type { DistributedLockOptions, ResolvedOptions } from '../options.js';
import { resolveOptions } from '../resolve-options.js';

const EXTRAS = ['name', 'isGlobal'] as const;

/** Resolves the options that `forRoot` or a factory gave. @throws LockConfigurationError that says which option is wrong */
export function resolveModuleOptions(name: string, options: DistributedLockOptions): ResolvedOptions {
  const where = `DistributedLockModule '${name}'`;
  checkIsObject(options, where, "{ connect: 'zk1:2181,zk2:2181,zk3:2181' }");
  const misplaced = EXTRAS.find((extra) => extra in options);
  if (misplaced !== undefined) {
    throw new LockConfigurationError(
      `${where}: ${misplaced}: belongs beside useFactory, useClass or useExisting, not in what they return`,
    );
  }
  try {
    return resolveOptions(options);
  } catch (error) {
    if (!(error instanceof LockConfigurationError)) throw error;
    throw new LockConfigurationError(`${where}: ${error.details}`, undefined, { cause: error });
  }
}

/** @throws LockConfigurationError unless options are an object */
export function checkIsObject(options: unknown, where: string, example: string): void {
  if (typeof options === 'object' && options !== null) return;
  throw new LockConfigurationError(
    `${where}: the options must be an object such as ${example}, not ${typeof options === 'string' ? shown(options) : String(options)}`,
  );
}

const MAKERS = ['useFactory', 'useClass', 'useExisting'] as const;

/** @throws LockConfigurationError unless exactly one of the makers says where the options come from */
export function checkHasOneFactory(options: object): void {
  const where = 'DistributedLockModule.forRootAsync';
  const given = MAKERS.filter((maker) => (options as Record<string, unknown>)[maker] !== undefined);
  const [maker] = given;
  if (maker === undefined || given.length > 1) {
    const found = given.length > 1 ? given.join(' and ') : Object.keys(options).join(', ') || 'an empty object';
    throw new LockConfigurationError(`${where}: must be given one of ${MAKERS.join(', ')}, not ${found}`);
  }
  const value: unknown = (options as Record<string, unknown>)[maker];
  if (maker === 'useExisting' || typeof value === 'function') return;
  const expected = maker === 'useFactory' ? 'a function that returns the options' : 'a class';
  throw new LockConfigurationError(`${where}: ${maker}: must be ${expected}, not ${shown(value)}`);
}

/** @throws LockConfigurationError for anything but true and false */
export function checkIsGlobal(isGlobal: unknown): void {
  if (typeof isGlobal === 'boolean') return;
  throw new LockConfigurationError(`DistributedLockModule: isGlobal: must be true or false, not ${shown(isGlobal)}`);
}

/** @throws LockConfigurationError for what cannot name a connection */
export function checkConnectionName(name: unknown): string {
  if (typeof name === 'string' && name !== '') return name;
  throw new LockConfigurationError(`DistributedLockModule: name: must be a non-empty string, not ${shown(name)}`);
}
