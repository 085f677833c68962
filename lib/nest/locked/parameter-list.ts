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

/** A piece of source text; `masked` is as long, with blanks for comments and zeros for what quotes enclose. */
export interface Piece {
  readonly source: string;
  readonly masked: string;
}

/** The parameters of a function as they were written, read from its source text; undefined where it makes no sense to us. */
export function parameterList(method: (...args: never[]) => unknown): readonly Piece[] | undefined {
  const source = Function.prototype.toString.call(method);
  const opening = openingOfList(source);
  const list = opening === undefined ? undefined : bracketed(source, opening);
  if (list === undefined || opening === undefined) return undefined;
  INNER_FUNCTION.lastIndex = opening + list.source.length + 1;
  const inner = INNER_FUNCTION.test(source) ? bracketed(source, INNER_FUNCTION.lastIndex - 1) : undefined;
  return splitAtCommas(inner ?? list);
}

/** Whether a function is written as the methods of classes are. A function that a decorator made seldom is. */
export function isWrittenAsMethod(method: (...args: never[]) => unknown): boolean {
  const source = Function.prototype.toString.call(method);
  return openingOfList(source) !== undefined && !/^(?:async\s+)?function\b|^(?:async\s*)?\(/.test(source);
}

/** Splits at the commas that are not inside of further brackets. */
export function splitAtCommas({ source, masked }: Piece): Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at <= masked.length; at += 1) {
    const character = masked.charAt(at);
    if (OPENING.includes(character) && character !== '') depth += 1;
    if (CLOSING.includes(character) && character !== '') depth -= 1;
    if (at < masked.length && !(character === ',' && depth === 0)) continue;
    pieces.push({ source: source.slice(start, at), masked: masked.slice(start, at) });
    start = at + 1;
  }
  return pieces;
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
    if (OPENING.includes(character)) depth += 1;
    if (CLOSING.includes(character)) depth -= 1;
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
