import { parameterList, type Piece, splitAtCommas } from './parameter-list.js';

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const PROPERTY = /^([A-Za-z_$][\w$]*)\s*:\s*([A-Za-z_$][\w$]*)$/;
/** Minifiers make names of one letter. */
const MIN_NAME_LENGTH = 2;

/** The default value of a parameter: one that can be read off the source, or one that only the method itself makes. */
export type DefaultValue =
  { readonly kind: 'literal'; readonly value: string | number | bigint } | { readonly kind: 'computed' };

/** A name that the method's code has for an argument, or for a property of an argument that it destructures. */
export interface NamedParameter {
  readonly name: string;
  readonly index: number;
  readonly property: string | undefined;
  /** Whether the whole argument has a default value whose properties cannot be told. */
  readonly isOfUnknownDefault: boolean;
  readonly defaultValue: DefaultValue | undefined;
}

/**
 * The names of a function's parameters, read from its source text: none for rest parameters, for what is destructured more
 * than one level deep, and where the text makes no sense to us. A last resort: compilers may rename.
 */
export function parameterNames(method: (...args: never[]) => unknown): NamedParameter[] {
  return (parameterList(method) ?? []).flatMap((parameter, index) => namesIn(parameter, index));
}

/** Whether a name was most likely chosen by a person. */
export function isNameChosen(name: string): boolean {
  return name.length >= MIN_NAME_LENGTH;
}

/** The default values of whole parameters, by place. Those inside of a destructured parameter belong to its names. */
export function defaultsByPlace(names: readonly NamedParameter[]): (DefaultValue | undefined)[] {
  const defaults: (DefaultValue | undefined)[] = [];
  for (const { index, property, defaultValue } of names) if (property === undefined) defaults[index] = defaultValue;
  return defaults;
}

function namesIn(parameter: Piece, index: number): NamedParameter[] {
  const { target, defaultValue } = splitDefault(parameter);
  const name = target.masked.trim();
  if (IDENTIFIER.test(name)) return [{ name, index, property: undefined, isOfUnknownDefault: false, defaultValue }];
  if (!name.startsWith('{')) return [];
  const start = target.masked.indexOf('{') + 1;
  const end = target.masked.lastIndexOf('}');
  const members = { source: target.source.slice(start, end), masked: target.masked.slice(start, end) };
  const isOfUnknownDefault = defaultValue !== undefined && !/=\s*\{\s*\}\s*$/.test(parameter.masked);
  return splitAtCommas(members).flatMap((member) => nameOfMember(member, index, isOfUnknownDefault));
}

function nameOfMember(member: Piece, index: number, isOfUnknownDefault: boolean): NamedParameter[] {
  const { target, defaultValue } = splitDefault(member);
  const text = target.masked.trim();
  const [, property = text, name = text] = PROPERTY.exec(text) ?? [];
  if (!IDENTIFIER.test(name)) return [];
  // A minifier may rename the variable, and must leave the property.
  return [{ name: isNameChosen(name) ? name : property, index, property, isOfUnknownDefault, defaultValue }];
}

function splitDefault({ source, masked }: Piece): { target: Piece; defaultValue: DefaultValue | undefined } {
  let depth = 0;
  for (let at = 0; at < masked.length; at += 1) {
    const character = masked.charAt(at);
    if ('([{'.includes(character)) depth += 1;
    if (')]}'.includes(character)) depth -= 1;
    if (character !== '=' || depth > 0) continue;
    const target = { source: source.slice(0, at), masked: masked.slice(0, at) };
    return { target, defaultValue: defaultOf({ source: source.slice(at + 1), masked: masked.slice(at + 1) }) };
  }
  return { target: { source, masked }, defaultValue: undefined };
}

function defaultOf({ source, masked }: Piece): DefaultValue {
  const start = masked.length - masked.trimStart().length;
  const text = source.slice(start, masked.trimEnd().length);
  const [, , quoted] = /^(['"`])((?:(?!\1|\$\{)[^\\\n])*)\1$/.exec(text) ?? [];
  if (quoted !== undefined) return { kind: 'literal', value: quoted };
  if (/^(?:0|[1-9]\d*)$/.test(text)) return { kind: 'literal', value: Number(text) };
  if (/^(?:0|[1-9]\d*)n$/.test(text)) return { kind: 'literal', value: BigInt(text.slice(0, -1)) };
  return { kind: 'computed' };
}
