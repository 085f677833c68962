import { checkIsObject, checkOption, must, MUST_BE_BOOLEAN, refuse, refusingAt } from '../lock/option-rules.js';
import type { DistributedLockOptions, ResolvedOptions } from '../options.js';
import { resolveOptions } from '../resolve-options.js';
import { DEFAULT_CONNECTION } from './lock-service-token.js';

/** Resolves the options that `forRoot` or a factory gave. @throws LockConfigurationError that says which option is wrong */
export function resolveModuleOptions(name: string, options: DistributedLockOptions): ResolvedOptions {
  return refusingAt(`DistributedLockModule '${name}'`, () => {
    checkIsObject('the options', options, CONNECT_EXAMPLE);
    const misplaced = ['name', 'isGlobal'].find((extra) => extra in options);
    if (misplaced === undefined) return resolveOptions(options);
    return refuse(`${misplaced}: belongs beside useFactory, useClass or useExisting, not in what they return`);
  });
}

export const CONNECT_EXAMPLE = " such as { connect: 'zk1:2181,zk2:2181,zk3:2181' }";

/** @throws LockConfigurationError unless exactly one of the makers says where the options come from */
export function checkHasOneFactory(options: object): void {
  const where = 'DistributedLockModule.forRootAsync';
  checkIsObject(`${where}: the options`, options, " such as { useFactory: () => ({ connect: '...' }) }");
  const given = MAKERS.filter((maker) => (options as Record<string, unknown>)[maker] !== undefined);
  const [maker] = given;
  if (maker === undefined || given.length > 1) {
    const found = given.length > 1 ? given.join(' and ') : Object.keys(options).join(', ') || 'an empty object';
    refuse(`${where}: must be given one of ${MAKERS.join(', ')}, not ${found}`);
  }
  if (maker === 'useExisting') return;
  const expected = maker === 'useFactory' ? 'a function that returns the options' : 'a class';
  const rule = must(expected, (value) => typeof value === 'function');
  checkOption(`${where}: ${maker}`, (options as Record<string, unknown>)[maker], rule);
}

const MAKERS = ['useFactory', 'useClass', 'useExisting'] as const;

export function checkIsGlobal(isGlobal: unknown): void {
  checkOption('DistributedLockModule: isGlobal', isGlobal, MUST_BE_BOOLEAN);
}

export const MUST_BE_NAME = must('a non-empty string', (value) => typeof value === 'string' && value !== '');

/** @throws LockConfigurationError for what cannot name a connection */
export function checkConnectionName(name: string = DEFAULT_CONNECTION): string {
  checkOption('DistributedLockModule: name', name, MUST_BE_NAME);
  return name;
}
