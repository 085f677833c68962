import { isObservable } from 'rxjs';
import type { LockHandle } from '../../lock/handle.js';
import { refuse } from '../../lock/option-rules.js';
import { DEFAULT_CONNECTION } from '../lock-service-token.js';
import { chainOf, isHidden, isObject, NamedNotes } from '../metadata.js';
import type { LockKeyTemplate } from './key-template.js';
import { type LockedMethod, lockedMethodsOf } from './notes.js';

/** One `@Recover`. */
export interface Recovery {
  readonly method: string | symbol;
  /** `OrdersService.mend` */
  readonly by: string;
  readonly path: string;
  /** The name of the connection. */
  readonly name: string;
}

/** A `@Locked` whose calls run the `@Recover` of the same path first, where the last holder vanished inside. */
export interface Recovered {
  readonly by: string;
  readonly name: string;
  readonly template: LockKeyTemplate;
  /** Of the class that declares the method. */
  readonly prototype: object;
}

/** By the class that declares a method, and its name. */
const recoveries = new NamedNotes<readonly Recovery[]>();

/** @throws LockConfigurationError where the class, or one that it extends, recovers the same path already */
export function addRecovery(prototype: object, recovery: Recovery): void {
  const { method, path, name } = recovery;
  const other = recoveryOf(prototype, path, name);
  if (other !== undefined) refuse(`${other.by} recovers this path already, and one method must see to all of it`);
  recoveries.set(prototype, method, [...(recoveries.get(prototype, method) ?? []), recovery]);
}

/** Those that count for instances of the class. As with `@Locked`, an override without the decorator has none. */
function recoveriesOf(prototype: object): readonly Recovery[] {
  return [...chainOf(prototype)].flatMap((declaring) =>
    [...recoveries.of(declaring)].flatMap(([method, all]) => (isHidden(prototype, declaring, method) ? [] : all)),
  );
}

function recoveryOf(prototype: object, path: string, name: string): Recovery | undefined {
  return recoveriesOf(prototype).find((one) => one.path === path && one.name === name);
}

/**
 * The function that repairs, under the lock, what a holder that vanished has left.
 * @throws LockConfigurationError where the class has none, which an application in whose modules it stands is told at its start
 */
export function recoverFor(instance: unknown, recovered: Recovered): (lock: LockHandle) => Promise<void> {
  const { prototype, template, name, by } = recovered;
  // The method may have been called without an instance.
  const receiver =
    isObject(instance) && Object.prototype.isPrototypeOf.call(prototype, instance) ? instance : undefined;
  // A property of the instance itself is a test's spy, which stands for the method.
  const ofClass = receiver === undefined ? prototype : (Object.getPrototypeOf(receiver) as object);
  const recovery = recoveryOf(ofClass, template.path, name);
  if (recovery === undefined) refuseMissing({ by, name, recovers: template.path }, ofClass);
  return async (lock) => {
    const method: unknown = Reflect.get(receiver ?? prototype, recovery.method);
    const recovering: unknown = Reflect.apply(method as () => unknown, instance, [lock, template.valuesOf(lock.key)]);
    if (isObservable(recovering)) {
      refuse(`${recovery.by} returned an Observable, which nobody subscribes to: a method with @Recover is async`);
    }
    await recovering;
  };
}

/**
 * Checks that each `@Locked` of a class that asks for a recovery has one, and that each recovery is asked for.
 * @throws LockConfigurationError
 */
export function checkRecoveries(prototype: object | null): void {
  if (prototype === null) return;
  const locked = [...chainOf(prototype)].flatMap((declaring) =>
    lockedMethodsOf(declaring).map((one) => ({ ...one, isHidden: isHidden(prototype, declaring, one.method) })),
  );
  const all = recoveriesOf(prototype);
  for (const { by, name, recovers, isHidden } of locked) {
    if (recovers === undefined || isHidden || recoveryOf(prototype, recovers, name) !== undefined) continue;
    refuseMissing({ by, name, recovers }, prototype);
  }
  // An override without the decorator may still call the method that has it.
  const idle = all.find(({ path, name }) => !locked.some((one) => one.recovers === path && one.name === name));
  if (idle === undefined) return;
  refuse(
    `${shown(idle)} on ${idle.by} would never run: no @Locked of ${prototype.constructor.name} has this path, this connection ` +
      `and onAbandoned: 'recover'. ${listed("Those with 'recover'", locked.filter(asksForRecovery).map(shownLocked))}`,
  );
}

function asksForRecovery({ recovers }: LockedMethod): boolean {
  return recovers !== undefined;
}

function refuseMissing({ by, name, recovers }: Pick<LockedMethod, 'by' | 'name' | 'recovers'>, of: object): never {
  const wanted = shown({ path: recovers!, name });
  const others = recoveriesOf(of).map((one) => `${shown(one)} on ${one.by}`);
  refuse(
    `@Locked('${recovers}') on ${by} has onAbandoned: 'recover', and ${of.constructor.name} has no method with ${wanted}. ` +
      listed('There', others),
  );
}

function listed(what: string, all: readonly string[]): string {
  return all.length === 0 ? `${what} are none` : `${what} are: ${all.join(', ')}`;
}

function shownLocked({ recovers, by, name }: LockedMethod): string {
  return `${shown({ path: recovers!, name }, '@Locked')} on ${by}`;
}

function shown({ path, name }: Pick<Recovery, 'path' | 'name'>, decorator = '@Recover'): string {
  return name === DEFAULT_CONNECTION ? `${decorator}('${path}')` : `${decorator}('${path}', { name: '${name}' })`;
}
