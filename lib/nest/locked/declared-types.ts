import { LockConfigurationError } from '../../lock/errors.js';
import { isClass } from './is-class.js';
import type { NamedParameter } from './parameter-names.js';
import type { ParameterNote } from './parameter-notes.js';

/** The trace that `emitDecoratorMetadata` leaves of the type of a parameter. */
type DeclaredType = unknown;

/** The compiler writes these where it cannot tell the type, and for a class that was imported by `import type`. */
const OF_ANYTHING: readonly string[] = ['Object', 'Function'];
const OF_KEY_VALUES: readonly string[] = ['String', 'Number', 'BigInt'];
const NEVER_A_HANDLE: readonly string[] = ['String', 'Number', 'Boolean', 'BigInt', 'Date', 'Array'];

/**
 * Only classes of the language are compared, and by name: a test runner may give the application globals of its own. A class of
 * an application may be one that a handle fits, and a minifier renames LockHandle itself.
 */
const FILLED = {
  fence: { decorator: '@Fence()', value: 'bigint', isMisfit: (name: string) => name !== 'BigInt' },
  handle: {
    decorator: '@CurrentLock()',
    value: 'LockHandle',
    isMisfit: (name: string) => NEVER_A_HANDLE.includes(name),
  },
} as const;

/** @returns the name of a type that no value of a key can have: a Date, an array, a class; undefined where one may have it */
export function typeOfNoKeyValue(type: DeclaredType): string | undefined {
  return misfit(type, (name) => !OF_KEY_VALUES.includes(name));
}

/** @throws LockConfigurationError for a parameter whose type does not fit the value with which the lock fills it */
export function checkFilledTypes(
  notes: readonly ParameterNote[],
  types: readonly DeclaredType[],
  names: readonly NamedParameter[],
  where: string,
): void {
  for (const { kind, index } of notes) {
    if (kind === 'key') continue;
    const { decorator, value, isMisfit } = FILLED[kind];
    const found = misfit(types[index], isMisfit);
    if (found === undefined) continue;
    const name = names.find((one) => one.index === index && one.property === undefined)?.name ?? 'value';
    throw new LockConfigurationError(
      `${where}: ${decorator} fills parameter ${index} with a ${value}, and its type is ${found}. Write ${decorator} ${name}: ${value}`,
    );
  }
}

/**
 * A compiler that reads one file at a time writes the value that has the name of the type. A function that is no class is the
 * companion of an alias: `type OrderId = string & Brand; const OrderId = (raw: string) => raw as OrderId`.
 */
function misfit(type: DeclaredType, isMisfit: (name: string) => boolean): string | undefined {
  if (!isClass(type) || OF_ANYTHING.includes(type.name) || !isMisfit(type.name)) return undefined;
  return type.name === '' ? 'a class' : type.name;
}
