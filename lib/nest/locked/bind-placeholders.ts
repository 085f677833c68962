import { InvalidLockKeyError } from '../../lock/errors.js';
import { refuse } from '../../lock/option-rules.js';
import type { LockKeyTemplate } from './key-template.js';
import { type KnownParameters, type RouteParameter, typeOfNoKeyValue } from './known-parameters.js';
import type { ParameterNote } from './notes.js';
import { type DefaultValue, isNameChosen, type NamedParameter } from './parameter-names.js';

export type ArgumentReader = (args: readonly unknown[]) => unknown;

/** What a placeholder may stand for: an argument, or a part of one. */
interface Source {
  readonly index: number;
  /** How an error names the source. */
  readonly shown: string;
  readonly read: ArgumentReader;
  /** Whether the value is the whole argument, of the parameter's type. */
  readonly isArgument: boolean;
}

/** A source, and the placeholders that it is for: by the part of their name in front of the first dot. */
interface Offer extends Source {
  readonly heads: readonly string[];
  /** Of several offers for one placeholder the surest counts, which has the lowest number. */
  readonly rank: number;
  /** Whether it is for placeholders that lead into the value alone. */
  readonly isForParts?: boolean;
}

/** Types into whose values no dotted placeholder can lead. */
const HAVE_NO_PARTS: readonly unknown[] = [String, Number, Boolean, BigInt];

/**
 * Makes one reader for each placeholder.
 * @throws LockConfigurationError for a placeholder that binds to nothing, or to several things
 */
export function bindPlaceholders({ path, placeholders }: LockKeyTemplate, known: KnownParameters): ArgumentReader[] {
  const offers = offersOf(known);
  return placeholders.map((placeholder) => {
    const [head = '', ...parts] = placeholder.split('.');
    const fitting = offers.filter(
      (one) => one.heads.includes(head) && !(one.isForParts === true && parts.length === 0),
    );
    // The same name may stand for several things: what the application has said itself is surer than a name in the source.
    const lowest = Math.min(...fitting.map(({ rank }) => rank));
    const surest = fitting.filter(({ rank }) => rank === lowest);
    const [source, other] = surest;
    if (source === undefined) return refuse(describeUnbound(placeholder, offers, known));
    if (other !== undefined) {
      const places = surest.map(({ shown, index }) => `${shown} (parameter ${index})`).join(', ');
      refuse(`placeholder ":${placeholder}" is ambiguous: ${places}. Say which is meant with @LockKey or keys`);
    }
    if (source.isArgument) checkType(source, placeholder, parts.length > 0, known.types[source.index]);
    return parts.length === 0 ? source.read : (args) => follow(source.read(args), parts, placeholder, path);
  });
}

function checkType({ shown }: Source, placeholder: string, isDotted: boolean, type: unknown): void {
  if (isDotted) {
    if (!HAVE_NO_PARTS.includes(type)) return;
    refuse(
      `placeholder ":${placeholder}" leads into ${shown}, which is not an object. Where the text behind ` +
        'the dot is a part of the key, compute the key: @Locked((...args) => `/locks/${...}`)',
    );
  }
  const unfit = typeOfNoKeyValue(type);
  if (unfit === undefined) return;
  refuse(
    `placeholder ":${placeholder}" binds to ${shown}, whose type is ${unfit}: a key takes a string, a number or a bigint. ` +
      `Choose a part of it: @LockKey('${placeholder}', (${placeholder}) => ...)`,
  );
}

function offersOf({ notes, routes, names, defaults }: KnownParameters): Offer[] {
  const ofArgument = (index: number, shown: string): Source => {
    const read: ArgumentReader = (args) => args[index];
    return { index, shown, read: withDefault(read, defaults[index], shown), isArgument: true };
  };
  const ofNote = ({ name, index, pick }: Extract<ParameterNote, { kind: 'key' }>): Source => {
    const shown = `key ${name}`;
    if (pick === undefined) return ofArgument(index, shown);
    return { index, shown, read: (args) => pick(args[index] as never), isArgument: false };
  };
  const ofRoute = ({ index, property, roots }: RouteParameter): Offer =>
    // A whole body or query is no value of a key, but its parts may be.
    property === undefined
      ? { ...ofArgument(index, `route ${roots[0]}.*`), heads: roots, isForParts: true, rank: 3 }
      : { ...ofArgument(index, `route ${property}`), heads: [property], rank: 2 };
  const ofName = (named: NamedParameter): Source => {
    const { name, index, property, isOfUnknownDefault, defaultValue } = named;
    const shown = `param ${name}`;
    if (property === undefined) return ofArgument(index, shown);
    const whole = withDefault((args) => args[index], isOfUnknownDefault ? { kind: 'computed' } : undefined, shown);
    const read: ArgumentReader = (args) => (whole(args) as Record<string, unknown> | null | undefined)?.[property];
    return { index, shown, read: withDefault(read, defaultValue, shown), isArgument: false };
  };
  return [
    ...notes.flatMap((note) => (note.kind === 'key' ? [{ ...ofNote(note), heads: [note.name], rank: 1 }] : [])),
    ...routes.map(ofRoute),
    ...names.flatMap((one) => (isNameChosen(one.name) ? [{ ...ofName(one), heads: [one.name], rank: 4 }] : [])),
  ];
}

/** Reads what the method itself will read. */
function withDefault(read: ArgumentReader, defaultValue: DefaultValue | undefined, shown: string): ArgumentReader {
  if (defaultValue === undefined) return read;
  return (args) => {
    const value = read(args);
    if (value !== undefined) return value;
    if (defaultValue.kind === 'literal') return defaultValue.value;
    // Only the method can compute this value, and it runs when the lock is held already.
    throw new InvalidLockKeyError(
      `The call gives no value for ${shown}, and the lock is acquired before the method computes its default value. Give the ` +
        'value, make the default a plain text or number, or compute the key: @Locked((...args) => key)',
    );
  };
}

function follow(start: unknown, parts: readonly string[], placeholder: string, key: string): unknown {
  let value = start;
  for (const property of parts) {
    // A text has members, too, such as `length`. Nobody means those.
    if (typeof value !== 'object' || value === null) {
      throw new InvalidLockKeyError(
        `The lock key ${key} needs a value for ":${placeholder}", and there is no object that could have "${property}"`,
      );
    }
    value = (value as Record<string, unknown>)[property];
  }
  return value;
}

/** The names that people have for the parts of a request, and the decorator of a parameter for each part. */
const DECORATORS: Readonly<Record<string, string>> = {
  params: '@Param()',
  param: '@Param()',
  query: '@Query()',
  body: '@Body()',
  payload: '@Payload()',
  args: '@Args()',
};

/** The text of the error: what is known of the method, what may have been meant, and what to write. */
function describeUnbound(placeholder: string, offers: readonly Offer[], known: KnownParameters): string {
  const [head = placeholder] = placeholder.split('.');
  const type = unfitType(placeholder, known);
  const cure = type === undefined ? `@LockKey('${head}')` : `@LockKey('${head}', (${head}) => ...)`;
  const hints = [nameTooShort(head, type, known), partOfRequest(placeholder, known), replaced(known)];
  return [
    `placeholder ":${placeholder}" binds to nothing. Known: [${offers.map(({ shown }) => shown).join(', ')}].`,
    ...hints.filter((hint) => hint !== undefined),
    `Put ${cure} in front of the parameter, or say it with keys: (...args) => ({ ${JSON.stringify(placeholder)}: ... })`,
  ].join(' ');
}

function nameTooShort(head: string, type: string | undefined, { names }: KnownParameters): string | undefined {
  if (isNameChosen(head) || !names.some(({ name }) => name === head)) return undefined;
  const text = `The parameter's name "${head}" does not count: names of one letter are what bundlers make of any.`;
  if (type === undefined) return text;
  return `${text} Nor would a longer name help: its type is ${type}, and a key takes a string, a number or a bigint.`;
}

/** The type of the whole parameter of that name, if no value of a key can have it. */
function unfitType(placeholder: string, { names, types }: KnownParameters): string | undefined {
  const named = names.find(({ name, property }) => name === placeholder && property === undefined);
  return named === undefined ? undefined : typeOfNoKeyValue(types[named.index]);
}

/** The hint for `:params.id` where the method has `@Param('id')`: it is given a part of the request, and not the whole. */
function partOfRequest(placeholder: string, { routes, names }: KnownParameters): string | undefined {
  const [head = '', ...path] = placeholder.split('.');
  const decorator = DECORATORS[head];
  const [property] = path;
  if (decorator === undefined || property === undefined) return undefined;
  const needs = `":${head}." reads from a parameter with ${decorator}, and this method has none.`;
  const parts = routes.filter(({ property: part }) => part !== undefined);
  // The part that was named is a better guess than another part of the same thing.
  const meant =
    parts.find((part) => part.property === property && part.roots.includes(head)) ??
    parts.find((part) => part.property === property) ??
    parts.find((part) => part.roots.includes(head));
  if (meant !== undefined)
    return `${needs} It has ${decoratorOf(meant, head)}: write ":${rest(meant.property, path)}".`;
  const named = names.find(({ name }) => name === property && isNameChosen(name));
  if (named !== undefined) return `${needs} It has a parameter called ${property}: write ":${path.join('.')}".`;
  const [whole] = names.filter(({ name, property: part }) => isNameChosen(name) && part === undefined);
  const lead =
    whole === undefined ? '' : ` To read from its parameter ${whole.name}, write ":${whole.name}.${path.join('.')}".`;
  return needs + lead;
}

/** The path where it begins with the part; else the part alone. */
function rest(part: string | undefined, path: readonly string[]): string {
  return part === path[0] ? path.join('.') : String(part);
}

function decoratorOf({ roots, property }: RouteParameter, head: string): string {
  const decorator = DECORATORS[roots.includes(head) ? head : (roots[0] ?? '')] ?? '@Param()';
  return decorator.replace('()', `('${property}')`);
}

function replaced({ isReplaced }: KnownParameters): string | undefined {
  if (!isReplaced) return undefined;
  return (
    'Another decorator below @Locked has replaced the method, so the names of its parameters are lost. (With @Locked below ' +
    'that decorator they are found, but what the decorator does then runs outside the lock.)'
  );
}
