import { Inject, type InjectionToken } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { LockService } from '../engine/lock-service.js';
import { LockConfigurationError } from '../lock/errors.js';
import { refuseMissingParentheses } from './metadata.js';

export const DEFAULT_CONNECTION = 'default';

/**
 * The token by which one of several connections is injected. That of the default one is the class `LockService` itself. Nest
 * prints the token where it cannot resolve it, so the text says who provides it, as the name of the class does.
 */
export function getLockServiceToken(name: string = DEFAULT_CONNECTION): InjectionToken<LockService> {
  if (name === DEFAULT_CONNECTION) return LockService;
  return (
    `LockService '${name}' (provided by DistributedLockModule.forRoot({ name: '${name}', ... }), in a test by ` +
    `...provideLockTesting({ name: '${name}' }) from nestjs-zookeeper-lock/testing)`
  );
}

/**
 * Finds a connection wherever in the application it was imported.
 * @param by who asks for it, for the error
 * @throws LockConfigurationError where there is no connection of this name
 */
export function connectionNamed(modules: ModuleRef, name: string, by: string): LockService {
  try {
    return modules.get<LockService>(getLockServiceToken(name), { strict: false });
  } catch (cause) {
    const text =
      `${by}: there is no lock connection '${name}'. Import DistributedLockModule.forRoot(...) with this name, or check the ` +
      'name that it was given';
    throw new LockConfigurationError(text, undefined, { cause });
  }
}

const NO_NAME =
  "it would inject nothing. Write @InjectLock(), or @InjectLock('orders') for a connection with that name";

/** Injects the lock service of a named connection: `@InjectLock('orders') private readonly locks: LockService`. */
export function InjectLock(name?: string): ParameterDecorator & PropertyDecorator;
export function InjectLock(
  name: string = DEFAULT_CONNECTION,
  ...bare: unknown[]
): ParameterDecorator & PropertyDecorator {
  refuseMissingParentheses('@InjectLock', [name, ...bare], NO_NAME);
  return Inject(getLockServiceToken(name));
}
