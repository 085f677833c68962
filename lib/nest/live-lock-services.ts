import type { LockService } from '../engine/lock-service.js';
import { LockConfigurationError } from '../lock/errors.js';
import { DEFAULT_CONNECTION } from './lock-service-token.js';

interface LiveLockServices {
  readonly byName: Map<string, Set<LockService>>;
  readonly started: WeakSet<LockService>;
}

const SHARED_AS = Symbol.for('nestjs-zookeeper-lock.live-lock-services');

/** All copies of the package in a process share one list. */
const { byName: live, started } = ((globalThis as { [SHARED_AS]?: LiveLockServices })[SHARED_AS] ??= {
  byName: new Map<string, Set<LockService>>(),
  started: new WeakSet<LockService>(),
});

export function addLiveLockService(name: string, service: LockService): void {
  const services = live.get(name) ?? new Set();
  live.set(name, services.add(service));
}

/** Marks a service whose application started it. One that failed before leaves services that nobody will use, or close. */
export function startedLiveLockService(service: LockService): void {
  started.add(service);
}

export function removeLiveLockService(name: string, service: LockService): void {
  const services = live.get(name);
  services?.delete(service);
  if (services?.size === 0) live.delete(name);
}

/** How texts name what a test has in the place of a lock service that needs servers. */
export function standIn(name: string): string {
  const option = name === DEFAULT_CONNECTION ? '' : `{ name: '${name}' }`;
  return `...provideLockTesting(${option}) from nestjs-zookeeper-lock/testing`;
}

/**
 * The lock service for an object that Nest did not build: the one there is.
 * @throws LockConfigurationError where there is none, or more than one
 */
export function onlyLiveLockService(name: string, method: string): LockService {
  const all = [...(live.get(name) ?? [])];
  const inUse = all.filter((service) => started.has(service));
  const [service, other] = inUse.length > 0 ? inUse : all;
  if (service !== undefined && other === undefined) return service;
  const found = service === undefined ? 'there is none' : 'there are several';
  throw new LockConfigurationError(
    `${method} was called on an object that Nest did not build, so it uses the one lock connection '${name}' of this ` +
      `process, and ${found}. Have Nest build the object (list its class in providers), or ` +
      (service === undefined
        ? 'import DistributedLockModule.forRoot(...) and call it while the application runs. In a test, use ' +
          `Test.createTestingModule with ${standIn(name)} in its providers`
        : 'close the applications that are not in use'),
  );
}
