import { InvalidLockKeyError, LockConfigurationError } from '../../lock/errors.js';
import type { KeyTemplate } from './key-template.js';
import type { ParameterNote } from './parameter-notes.js';
import type { RouteParameter } from './route-parameters.js';

/** What is known about a method's parameters when the class is being defined. */
export interface KnownParameters {
  readonly notes: readonly ParameterNote[];
  readonly routes: readonly RouteParameter[];
  /** By place. */
  readonly names: readonly (string | undefined)[];
  /** By place, as far as the compiler left a trace of them. */
  readonly types: readonly unknown[];
}

export type ArgumentReader = (args: readonly unknown[]) => unknown;

interface Source {
  readonly index: number;
  /** As the error lists it. */
  readonly shown: string;
  readonly read: ArgumentReader;
  /** Whether it is the whole argument, of the parameter's type. */
  readonly isArgument: boolean;
}

/** Of which no path leads on. */
const HAVE_NO_PARTS: readonly unknown[] = [String, Number, Boolean, BigInt];
/** Minifiers make names of one letter. */
const MIN_NAME_LENGTH = 2;

/**
 * One reader for each placeholder.
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
          `${where}: placeholder ":${placeholder}" leads into ${source.shown}, which is no object. Where the text behind ` +
            'the dot is a part of the key, compute the key: @Locked((...args) => `/locks/${...}`)',
        );
      }
      return path.length === 0 ? source.read : (args) => follow(source.read(args), path, placeholder, template.path);
    }
    throw new LockConfigurationError(unbound(where, placeholder, known));
  });
}

/** What may be meant, the surest first. */
function inOrder(head: string, isDotted: boolean, { notes, routes, names }: KnownParameters): readonly Source[][] {
  return [
    notes.flatMap((note) => (note.kind === 'key' && note.name === head ? [ofNote(note)] : [])),
    routes.flatMap(({ index, property }) => (property === head ? [ofArgument(index, `route ${head}`)] : [])),
    isDotted
      ? routes.flatMap(({ index, property, roots }) =>
          property === undefined && roots.includes(head) ? [ofArgument(index, `route ${head}.*`)] : [],
        )
      : [],
    names.flatMap((name, index) =>
      name === head && name.length >= MIN_NAME_LENGTH ? [ofArgument(index, `param ${head}`)] : [],
    ),
  ];
}

function ofNote({ name, index, pick }: Extract<ParameterNote, { kind: 'key' }>): Source {
  const shown = `key ${name}`;
  if (pick === undefined) return ofArgument(index, shown);
  return { index, shown, read: (args) => pick(args[index] as never), isArgument: false };
}

function ofArgument(index: number, shown: string): Source {
  return { index, shown, read: (args) => args[index], isArgument: true };
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

function unbound(where: string, placeholder: string, { notes, routes, names }: KnownParameters): string {
  const [head = placeholder] = placeholder.split('.');
  const known = [
    ...notes.flatMap((note) => (note.kind === 'key' ? [`key ${note.name}`] : [])),
    ...routes.map(({ property, roots }) => (property === undefined ? `route ${roots[0]}.*` : `route ${property}`)),
    ...names.flatMap((name) => (name !== undefined && name.length >= MIN_NAME_LENGTH ? [`param ${name}`] : [])),
  ];
  const tooShort = names.includes(head)
    ? ` The parameter's name "${head}" does not count: names of one letter are what bundlers make of any.`
    : '';
  return (
    `${where}: placeholder ":${placeholder}" binds to nothing. Known: [${known.join(', ')}].${tooShort} Put @LockKey('${head}') in ` +
    `front of the parameter, or say it with keys: (...args) => ({ ${JSON.stringify(placeholder)}: ... })`
  );
}

function ambiguous(where: string, placeholder: string, sources: readonly Source[]): string {
  const places = sources.map(({ shown, index }) => `${shown} (parameter ${index})`).join(', ');
  return `${where}: placeholder ":${placeholder}" is ambiguous: ${places}. Say which is meant with @LockKey or keys`;
}
