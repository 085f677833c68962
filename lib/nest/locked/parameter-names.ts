const OPENING = '([{';
const CLOSING = ')]}';
/** No operand ends like this, so a slash behind it begins a regular expression. */
const BEFORE_A_VALUE = /(?:^|[([{,=:?!&|<>*%^~;])\s*$/;
/** An operand ends like this, so a slash behind it divides. */
const BEHIND_A_VALUE = /[\w$)\].]\s*$/;
/** These words end no operand, so a slash behind them begins a regular expression. */
const WORD_BEFORE_A_VALUE = /\b(?:return|typeof|case|in|of|void|delete|instanceof|new|await|yield)\s*$/;
const LITERAL = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/y;
const REGULAR_EXPRESSION = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
/** The inner function that TypeScript makes of an async method with default values, for targets without async methods. */
const INNER_FUNCTION = /\)\s*\{\s*return (?:\w+\.)?__awaiter\(this,\s*arguments,[^,()]*,\s*function\s*\*\s*\(/y;
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

/** A piece of source text; `masked` is as long, with blanks for comments and zeros for what quotes enclose. */
interface Piece {
  readonly source: string;
  readonly masked: string;
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
  return splitAt(',', members).flatMap((member) => nameOfMember(member, index, isOfUnknownDefault));
}

function nameOfMember(member: Piece, index: number, isOfUnknownDefault: boolean): NamedParameter[] {
  const { target, defaultValue } = splitDefault(member);
  const text = target.masked.trim();
  const [, property = text, name = text] = PROPERTY.exec(text) ?? [];
  if (!IDENTIFIER.test(name)) return [];
  // A minifier may rename the variable, and must leave the property.
  return [{ name: isNameChosen(name) ? name : property, index, property, isOfUnknownDefault, defaultValue }];
}

function splitDefault(piece: Piece): { target: Piece; defaultValue: DefaultValue | undefined } {
  const [target = piece, value, ...more] = splitAt('=', piece);
  if (value === undefined) return { target, defaultValue: undefined };
  // Further equals signs are those of a comparison, or of an arrow.
  return { target, defaultValue: more.length === 0 ? defaultOf(value) : { kind: 'computed' } };
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

/** The parameters of a function as they were written, read from its source text; undefined where it makes no sense to us. */
function parameterList(method: (...args: never[]) => unknown): readonly Piece[] | undefined {
  const source = Function.prototype.toString.call(method);
  const opening = openingOfList(source);
  const list = opening === undefined ? undefined : bracketed(source, opening);
  if (list === undefined || opening === undefined) return undefined;
  INNER_FUNCTION.lastIndex = opening + list.source.length + 1;
  const inner = INNER_FUNCTION.test(source) ? bracketed(source, INNER_FUNCTION.lastIndex - 1) : undefined;
  return splitAt(',', inner ?? list);
}

/** Whether a function is written as the methods of classes are. A function that a decorator made seldom is. */
export function isWrittenAsMethod(method: (...args: never[]) => unknown): boolean {
  const source = Function.prototype.toString.call(method);
  return openingOfList(source) !== undefined && !/^(?:async\s+)?function\b|^(?:async\s*)?\(/.test(source);
}

/** Splits at the separators that are not inside of further brackets. */
function splitAt(separator: ',' | '=', { source, masked }: Piece): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at <= masked.length; at += 1) {
    const character = masked.charAt(at);
    depth += stepAt(character);
    if (at < masked.length && !(character === separator && depth === 0)) continue;
    pieces.push({ source: source.slice(start, at), masked: masked.slice(start, at) });
    start = at + 1;
  }
  return pieces;
}

/** How much deeper into brackets a character leads. */
function stepAt(character: string): number {
  if (character === '') return 0;
  return Number(OPENING.includes(character)) - Number(CLOSING.includes(character));
}

/** Finds the list behind the method's name, which may itself be in brackets: `['a b'](id) {...}`. */
function openingOfList(source: string): number | undefined {
  for (let at = 0; at < source.length;) {
    const opaque = opaqueAt(source, at, '');
    if (source.charAt(at) === '(') return at;
    // The source is an arrow with one parameter, or a body without a list.
    if (opaque === undefined || source.startsWith('=>', at) || source.charAt(at) === '{') return undefined;
    const inBrackets = source.charAt(at) === '[' ? bracketed(source, at) : undefined;
    if (source.charAt(at) === '[' && inBrackets === undefined) return undefined;
    at += inBrackets === undefined ? Math.max(1, opaque.length) : inBrackets.source.length + 2;
  }
  return undefined;
}

/** The text between the bracket at this place and the one that closes it. */
function bracketed(source: string, opening: number): Piece | undefined {
  let masked = '';
  let depth = 0;
  for (let at = opening; at < source.length;) {
    const opaque = opaqueAt(source, at, masked);
    if (opaque === undefined) return undefined;
    if (opaque !== '') {
      masked += opaque;
      at += opaque.length;
      continue;
    }
    const character = source.charAt(at);
    depth += stepAt(character);
    if (depth === 0) return { source: source.slice(opening + 1, at), masked: masked.slice(1) };
    masked += character;
    at += 1;
  }
  return undefined;
}

/**
 * The mask for a literal or comment that begins here, whose brackets and commas mean nothing; '' where none begins. Undefined
 * where only a real parser could tell: no name is better than a wrong one.
 */
function opaqueAt(source: string, at: number, before: string): string | undefined {
  switch (source.charAt(at)) {
    case '"':
    case "'":
      return masking(LITERAL, source, at, '0');
    case '`': {
      const end = endOfTemplate(source, at);
      return end === undefined ? undefined : '0'.repeat(end - at);
    }
    case '/':
      if (/[/*]/.test(source.charAt(at + 1))) return masking(COMMENT, source, at, ' ');
      if (BEFORE_A_VALUE.test(before) || WORD_BEFORE_A_VALUE.test(before))
        return masking(REGULAR_EXPRESSION, source, at, '0');
      return BEHIND_A_VALUE.test(before) ? '' : undefined;
    default:
      return '';
  }
}

function masking(pattern: RegExp, source: string, at: number, mask: string): string | undefined {
  pattern.lastIndex = at;
  return pattern.test(source) ? mask.repeat(pattern.lastIndex - at) : undefined;
}

function endOfTemplate(source: string, opening: number): number | undefined {
  for (let at = opening + 1; at < source.length; at += 1) {
    const character = source.charAt(at);
    if (character === '`') return at + 1;
    if (character === '\\') at += 1;
    if (!source.startsWith('${', at)) continue;
    const inside = bracketed(source, at + 1);
    if (inside === undefined) return undefined;
    at += inside.source.length + 2;
  }
  return undefined;
}
