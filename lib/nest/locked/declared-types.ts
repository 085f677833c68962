import { LockConfigurationError } from '../../lock/errors.js';
import type { NamedParameter } from './parameter-names.js';
import type { ParameterNote } from './parameter-notes.js';

/**
 * What `emitDecoratorMetadata` leaves of the type of a parameter is a class. Classes are compared by name: a test runner may
 * give the application globals of its own.
 */
type DeclaredType = unknown;

/** What the compiler writes where it cannot tell, and for a class that was imported by `import type`. */
const OF_ANYTHING: readonly string[] = ['Object', 'Function'];
const OF_KEY_VALUES: readonly string[] = ['String', 'Number', 'BigInt'];

const FILLED = {
  fence: { decorator: '@Fence()', value: 'bigint', types: ['BigInt'] },
  handle: { decorator: '@CurrentLock()', value: 'LockHandle', types: ['LockHandle'] },
} as const;

/** @returns the name of a type that no value of a key can have: a Date, an array, a class; undefined where one may have it */
export function typeOfNoKeyValue(type: DeclaredType): string | undefined {
  return misfit(type, OF_KEY_VALUES);
}

/** @throws LockConfigurationError for a parameter whose type is not that of what the lock fills it with */
export function checkFilledTypes(
  notes: readonly ParameterNote[],
  types: readonly DeclaredType[],
  names: readonly NamedParameter[],
  where: string,
): void {
  for (const { kind, index } of notes) {
    if (kind === 'key') continue;
    const { decorator, value, types: fitting } = FILLED[kind];
    const found = misfit(types[index], fitting);
    if (found === undefined) continue;
    const name = names.find((one) => one.index === index && one.property === undefined)?.name ?? 'value';
    throw new LockConfigurationError(
      `${where}: ${decorator} fills parameter ${index} with a ${value}, and its type is ${found}. Write ${decorator} ${name}: ${value}`,
    );
  }
}

function misfit(type: DeclaredType, fitting: readonly string[]): string | undefined {
  if (typeof type !== 'function' || OF_ANYTHING.includes(type.name) || fitting.includes(type.name)) return undefined;
  return type.name === '' ? 'a class' : type.name;
}
