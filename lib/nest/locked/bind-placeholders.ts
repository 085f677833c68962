import { InvalidLockKeyError, LockConfigurationError } from '../../lock/errors.js';
import { typeOfNoKeyValue } from './declared-types.js';
import type { KeyTemplate } from './key-template.js';
import { type DefaultValue, isNameChosen, type NamedParameter } from './parameter-names.js';
import type { ParameterNote } from './parameter-notes.js';
import type { RouteParameter } from './route-parameters.js';
import { describeUnbound } from './unbound-placeholder.js';

/** What is known about a method's parameters when the class is being defined. */
export interface KnownParameters {
  readonly notes: readonly ParameterNote[];
  readonly routes: readonly RouteParameter[];
  /** The names of the parameters; none where names must not count. */
  readonly names: readonly NamedParameter[];
  /** The default values, by the place of their parameters. */
  readonly defaults: readonly (DefaultValue | undefined)[];
  /** Whether another decorator has replaced the method as it was written. */
  readonly isReplaced: boolean;
  /** The types of the parameters by their places, as far as the compiler left a trace of them. */
  readonly types: readonly unknown[];
}

export type ArgumentReader = (args: readonly unknown[]) => unknown;

interface Source {
  readonly index: number;
  /** How an error names the source. */
  readonly shown: string;
  readonly read: ArgumentReader;
  /** Whether the value is the whole argument, of the parameter's type. */
  readonly isArgument: boolean;
}

/** Types into whose values no dotted placeholder can lead. */
const HAVE_NO_PARTS: readonly unknown[] = [String, Number, Boolean, BigInt];

/**
 * Makes one reader for each placeholder.
 * @throws LockConfigurationError for a placeholder that binds to nothing, or to several things
 */
export function bindPlaceholders(template: KeyTemplate, known: KnownParameters, where: string): ArgumentReader[] {
  return template.placeholders.map((placeholder) => {
    const [head = '', ...path] = placeholder.split('.');
    for (const sources of inOrder(head, path.length > 0, known)) {
      const [source, ...others] = sources;
      if (source === undefined) continue;
      if (others.length > 0) throw new LockConfigurationError(ambiguous(where, placeholder, sources));
      if (path.length > 0 && source.isArgument && HAVE_NO_PARTS.includes(known.types[source.index])) {
        throw new LockConfigurationError(
          `${where}: placeholder ":${placeholder}" leads into ${source.shown}, which is not an object. Where the text behind ` +
            'the dot is a part of the key, compute the key: @Locked((...args) => `/locks/${...}`)',
        );
      }
      if (path.length === 0 && source.isArgument) checkCanBeKeyValue(source, placeholder, known, where);
      return path.length === 0 ? source.read : (args) => follow(source.read(args), path, placeholder, template.path);
    }
    throw new LockConfigurationError(describeUnbound(where, placeholder, known));
  });
}

function checkCanBeKeyValue(
  { index, shown }: Source,
  placeholder: string,
  { types }: KnownParameters,
  where: string,
): void {
  const type = typeOfNoKeyValue(types[index]);
  if (type === undefined) return;
  throw new LockConfigurationError(
    `${where}: placeholder ":${placeholder}" binds to ${shown}, whose type is ${type}: a key takes a string, a number or a bigint. ` +
      `Choose a part of it: @LockKey('${placeholder}', (${placeholder}) => ...)`,
  );
}

/** The sources that a placeholder may mean, in groups, the surest group first. */
function inOrder(head: string, isDotted: boolean, known: KnownParameters): readonly Source[][] {
  const { notes, routes, names } = known;
  return [
    notes.flatMap((note) => (note.kind === 'key' && note.name === head ? [ofNote(note, known)] : [])),
    routes.flatMap(({ index, property }) => (property === head ? [ofArgument(index, `route ${head}`, known)] : [])),
    isDotted
      ? routes.flatMap(({ index, property, roots }) =>
          property === undefined && roots.includes(head) ? [ofArgument(index, `route ${head}.*`, known)] : [],
        )
      : [],
    names.flatMap((one) => (one.name === head && isNameChosen(head) ? [ofName(one, known)] : [])),
  ];
}

function ofNote({ name, index, pick }: Extract<ParameterNote, { kind: 'key' }>, known: KnownParameters): Source {
  const shown = `key ${name}`;
  if (pick === undefined) return ofArgument(index, shown, known);
  return { index, shown, read: (args) => pick(args[index] as never), isArgument: false };
}

function ofArgument(index: number, shown: string, { defaults }: KnownParameters): Source {
  const read: ArgumentReader = (args) => args[index];
  return { index, shown, read: withDefault(read, defaults[index], shown), isArgument: true };
}

function ofName(named: NamedParameter, known: KnownParameters): Source {
  const { name, index, property, isOfUnknownDefault, defaultValue } = named;
  const shown = `param ${name}`;
  if (property === undefined) return ofArgument(index, shown, known);
  const whole = withDefault((args) => args[index], isOfUnknownDefault ? { kind: 'computed' } : undefined, shown);
  const read: ArgumentReader = (args) => (whole(args) as Record<string, unknown> | null | undefined)?.[property];
  return { index, shown, read: withDefault(read, defaultValue, shown), isArgument: false };
}

/** Reads what the method itself will read: its default values are made when the lock is held already. */
function withDefault(read: ArgumentReader, defaultValue: DefaultValue | undefined, shown: string): ArgumentReader {
  if (defaultValue === undefined) return read;
  return (args) => {
    const value = read(args);
    if (value !== undefined) return value;
    if (defaultValue.kind === 'literal') return defaultValue.value;
    throw new InvalidLockKeyError(
      `The call gives no value for ${shown}, and the lock is acquired before the method computes its default value. Give the ` +
        'value, make the default a plain text or number, or compute the key: @Locked((...args) => key)',
    );
  };
}

function follow(start: unknown, path: readonly string[], placeholder: string, key: string): unknown {
  let value = start;
  for (const property of path) {
    if (typeof value !== 'object' || value === null) {
      throw new InvalidLockKeyError(
        `The lock key ${key} needs a value for ":${placeholder}", and there is no object that could have "${property}"`,
      );
    }
    value = (value as Record<string, unknown>)[property];
  }
  return value;
}

function ambiguous(where: string, placeholder: string, sources: readonly Source[]): string {
  const places = sources.map(({ shown, index }) => `${shown} (parameter ${index})`).join(', ');
  return `${where}: placeholder ":${placeholder}" is ambiguous: ${places}. Say which is meant with @LockKey or keys`;
}
