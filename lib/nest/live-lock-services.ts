import type { LockService } from '../engine/lock-service.js';
import { LockConfigurationError } from '../lock/errors.js';

const SHARED_AS = Symbol.for('nestjs-zookeeper-lock.live-lock-services');

/** One list in a process, even where the package was loaded twice. */
const live: Map<string, Set<LockService>> = ((globalThis as { [SHARED_AS]?: Map<string, Set<LockService>> })[
  SHARED_AS
] ??= new Map<string, Set<LockService>>());

export function addLiveLockService(name: string, service: LockService): void {
  const services = live.get(name) ?? new Set();
  live.set(name, services.add(service));
}

export function removeLiveLockService(name: string, service: LockService): void {
  const services = live.get(name);
  services?.delete(service);
  if (services?.size === 0) live.delete(name);
}

/**
 * The lock service for an object that Nest did not build: the one there is.
 * @throws LockConfigurationError where there is none, or more than one
 */
export function onlyLiveLockService(name: string, method: string): LockService {
  const [service, other] = live.get(name) ?? [];
  if (service !== undefined && other === undefined) return service;
  const found = service === undefined ? 'none' : 'several';
  throw new LockConfigurationError(
    `${method} was called on an object that Nest did not build, so it uses the one lock connection '${name}' of this ` +
      `process, and there is ${found}. Have Nest build the object (list its class in providers), or ` +
      (service === undefined
        ? 'import DistributedLockModule.forRoot(...) and call it while the application runs'
        : 'close the applications that are not in use'),
  );
}
