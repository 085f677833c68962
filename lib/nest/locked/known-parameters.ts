import 'reflect-metadata';
import { Body, Param, Query } from '@nestjs/common';
import { refuse } from '../../lock/option-rules.js';
import { isClass } from '../metadata.js';
import { type ParameterNote, parameterNotes } from './notes.js';
import { type DefaultValue, isWrittenAsMethod, type NamedParameter, parameterNames } from './parameter-names.js';

/** What is known about a method's parameters when the class is being defined. */
export interface KnownParameters {
  readonly notes: readonly ParameterNote[];
  readonly routes: readonly RouteParameter[];
  /** The names of the parameters; none where names must not count. */
  readonly names: readonly NamedParameter[];
  /** The default values of whole parameters, by their places. Those inside of a destructured one belong to its names. */
  readonly defaults: readonly (DefaultValue | undefined)[];
  /** Whether another decorator has replaced the method as it was written. */
  readonly isReplaced: boolean;
  /** The types of the parameters by their places, as far as `emitDecoratorMetadata` left a trace of them. */
  readonly types: readonly unknown[];
}

/** @param written the method without what decorators put around it */
export function knownParameters(
  prototype: object,
  method: string | symbol,
  written: (...args: never[]) => unknown,
  doNamesCount: boolean,
): KnownParameters {
  const names = parameterNames(written);
  const defaults: (DefaultValue | undefined)[] = [];
  for (const { index, property, defaultValue } of names) if (property === undefined) defaults[index] = defaultValue;
  return {
    notes: parameterNotes.get(prototype, method) ?? [],
    routes: routeParametersOf(prototype.constructor, method),
    names: doNamesCount ? names : [],
    defaults,
    isReplaced: !isWrittenAsMethod(written) || (typeof method === 'string' && written.name !== method),
    // Inherited types do not count: an override that was compiled without types may take something else.
    types: (Reflect.getOwnMetadata('design:paramtypes', prototype, method) as unknown[] | undefined) ?? [],
  };
}

/** A parameter that Nest fills from the outside, as Nest's own decorators described it. */
export interface RouteParameter {
  readonly index: number;
  /** The part that Nest takes: `id` for `@Param('id')`; undefined for the whole, as in `@Body()`. */
  readonly property: string | undefined;
  /** The names of the whole in a dotted placeholder: `:body.order.id`. */
  readonly roots: readonly string[];
}

interface Learned {
  readonly metadataKey: unknown;
  readonly rootsByType: ReadonlyMap<string, readonly string[]>;
}

/**
 * Where Nest keeps such parameters, and what it calls their kinds, learned from what it does to a class of ours: no
 * import of its internals. All transports share the one key, and `@Body`, `@Payload`, `@MessageBody` and `@Args` the kind.
 */
const learned = learn();

function routeParametersOf(constructor: object, method: string | symbol): RouteParameter[] {
  const { metadataKey, rootsByType } = learned;
  const entries: unknown = Reflect.getMetadata(metadataKey, constructor, method);
  const parameters = Object.entries(entries ?? {}).flatMap(([typeAndIndex, { index, data }]: [string, RouteEntry]) => {
    const roots = rootsByType.get(typeAndIndex.slice(0, typeAndIndex.lastIndexOf(':')));
    return roots === undefined ? [] : [{ index, roots, property: typeof data === 'string' ? data : undefined }];
  });
  return parameters.sort((left, right) => left.index - right.index);
}

interface RouteEntry {
  readonly index: number;
  readonly data?: unknown;
}

function learn(): Learned {
  class Probe {
    method(): void {
      return undefined;
    }
  }
  const kinds = [
    { decorator: Param('probe'), roots: ['params', 'param'] },
    { decorator: Query('probe'), roots: ['query'] },
    { decorator: Body('probe'), roots: ['body', 'payload', 'args'] },
  ];
  kinds.forEach(({ decorator }, index) => decorator(Probe.prototype, 'method', index));
  const [metadataKey] = Reflect.getMetadataKeys(Probe, 'method') as unknown[];
  const entries = (Reflect.getMetadata(metadataKey, Probe, 'method') ?? {}) as Record<string, RouteEntry>;
  const rootsByType = Object.entries(entries).map(([typeAndIndex, { index }]): [string, readonly string[]] => [
    typeAndIndex.slice(0, typeAndIndex.lastIndexOf(':')),
    kinds[index]?.roots ?? [],
  ]);
  return { metadataKey, rootsByType: new Map(rootsByType) };
}

/** The compiler writes these where it cannot tell the type, and for a class that was imported by `import type`. */
const OF_ANYTHING: readonly string[] = ['Object', 'Function'];
const OF_KEY_VALUES: readonly string[] = ['String', 'Number', 'BigInt'];
const NEVER_A_HANDLE: readonly string[] = ['String', 'Number', 'Boolean', 'BigInt', 'Date', 'Array'];

/**
 * Only classes of the language are compared, and by name: a test runner may give the application globals of its own. A class of
 * an application may be one that a handle fits, and a minifier renames LockHandle itself.
 */
const FILLED = {
  fence: { value: 'bigint', isMisfit: (name: string) => name !== 'BigInt' },
  handle: { value: 'LockHandle', isMisfit: (name: string) => NEVER_A_HANDLE.includes(name) },
};

/** @returns the name of a type that no value of a key can have: a Date, an array, a class; undefined where one may have it */
export function typeOfNoKeyValue(type: unknown): string | undefined {
  return misfit(type, (name) => !OF_KEY_VALUES.includes(name));
}

/** @throws LockConfigurationError for a parameter whose type does not fit the value with which the lock fills it */
export function checkFilledTypes({ notes, types, names }: KnownParameters): void {
  for (const { kind, index, decorator } of notes) {
    if (kind === 'key') continue;
    const { value, isMisfit } = FILLED[kind];
    const found = misfit(types[index], isMisfit);
    if (found === undefined) continue;
    const name = names.find((one) => one.index === index && one.property === undefined)?.name ?? 'value';
    refuse(
      `${decorator} fills parameter ${index} with a ${value}, and its type is ${found}. Write ${decorator} ${name}: ${value}`,
    );
  }
}

function misfit(type: unknown, isMisfit: (name: string) => boolean): string | undefined {
  // A compiler that reads one file at a time writes the value that has the name of the type. A function that is no class is the
  // companion of an alias: `type OrderId = string & Brand; const OrderId = (raw: string) => raw as OrderId`.
  if (!isClass(type) || OF_ANYTHING.includes(type.name) || !isMisfit(type.name)) return undefined;
  return type.name === '' ? 'a class' : type.name;
}
