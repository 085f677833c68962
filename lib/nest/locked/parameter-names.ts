const OPENING = '([{';
const CLOSING = ')]}';
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** Comments and strings: what may hold brackets and commas that mean nothing. */
const OPAQUE = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"/g;
/** Regular expressions and templates may hold them, too, and take a real parser: rather no name than a wrong one. */
const BEYOND_US = /[/`]/;

/**
 * The names of a function's parameters, by their place, read from its source text; undefined for one that has none
 * (destructured, rest) and for all where the text makes no sense to us. A last resort: compilers may rename.
 */
export function parameterNames(method: (...args: never[]) => unknown): readonly (string | undefined)[] {
  const source = Function.prototype.toString.call(method).replace(OPAQUE, (text) => (text.startsWith('/') ? ' ' : '0'));
  const list = parameterList(source);
  return list === undefined || BEYOND_US.test(list) ? [] : splitAtCommas(list).map(nameOf);
}

function nameOf(parameter: string): string | undefined {
  const [name = ''] = parameter.split('=');
  return IDENTIFIER.test(name.trim()) ? name.trim() : undefined;
}

/** What stands between the brackets behind the method's name, which may itself be computed: `['a b'](id) {...}`. */
function parameterList(source: string): string | undefined {
  const start =
    source.startsWith('[') || /^(async\s*)?\*?\s*\[/.test(source) ? closingOf(source, source.indexOf('[')) : 0;
  const opening = source.indexOf('(', start);
  const closing = closingOf(source, opening);
  return opening < 0 || closing < 0 ? undefined : source.slice(opening + 1, closing);
}

function closingOf(source: string, opening: number): number {
  let depth = 0;
  for (let at = opening; at >= 0 && at < source.length; at += 1) {
    const character = source.charAt(at);
    if (OPENING.includes(character)) depth += 1;
    if (CLOSING.includes(character)) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function splitAtCommas(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of list) {
    if (OPENING.includes(character)) depth += 1;
    if (CLOSING.includes(character)) depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}
