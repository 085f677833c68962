/**
 * Placeholders as other languages write them. Here they are text, the same for every call: one lock for the whole fleet. Only
 * templates are looked at, which developers write; a computed key may have a value in it that looks like one of these.
 */
const FOREIGN: readonly RegExp[] = [
  // {id}, ${id}, #{id}, {{id}}, {}, {id:int}
  /[$#@%:]*\{+([^{}]*)\}*|\}/,
  // <id>, <int:id>; an arrow has no name in it.
  /<([^<>/]*\w[^<>/]*)>/,
  // [id], [...id]; the brackets of an IPv6 address have colons in them.
  /\[(?:\.{3})?([A-Za-z_$][\w$.-]*)\]/,
  // (id), as a whole segment
  /(?<=\/)\(([A-Za-z_$][\w$.]*)\)(?=\/|$)/,
  // %s, %d, %(id)s, %1$s: a percent sign with two hexadecimal digits is how encodeURIComponent writes a character.
  /%(?![\da-fA-F]{2})(?:\((\w+)\)|\d+\$)?[diosuxfjv](?![A-Za-z\d])/,
  // %id%
  /%(?![\da-fA-F]{2})([A-Za-z_]\w*)%/,
  // $id; a placeholder may lead to such a name, as in :body._id.$oid.
  /(?<![\w$:]|:[A-Za-z_$][\w$.]*)\$([A-Za-z_][\w.]*)/,
];
/** A whole segment that is a wildcard elsewhere: *, **, *rest. */
const WILDCARD = /(?<=\/)\*{1,2}[\w$]*(?=\/|$)/;
/**
 * A placeholder with what a route would take for a rule on its value, up to the end of the segment. A bracket with a placeholder
 * in it is no such rule, but `?:` begins a group of a regular expression.
 */
const ROUTE_PATTERN = /(:[A-Za-z_$][\w$.]*)(\((?![^/]*(?<!\?):[A-Za-z_$])[^/]*\)[?*+]?|[?*+])(?=\/|$)/;
const NAME = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/;

/** @returns what is wrong with the path and how it is written instead; undefined where nothing is */
export function foreignPlaceholder(path: string): string | undefined {
  for (const pattern of FOREIGN) {
    const [found, inside = ''] = pattern.exec(path) ?? [];
    if (found === undefined) continue;
    const text = `${JSON.stringify(found)} is no placeholder but text, the same in every key`;
    return `${text}. Placeholders have a colon in front: ":${nameIn(found, inside)}"`;
  }
  const [wildcard] = WILDCARD.exec(path) ?? [];
  if (wildcard !== undefined) {
    return (
      `${JSON.stringify(wildcard)} is no wildcard but text: a lock is for one key, and for nothing below it. A placeholder ` +
      'takes a value into the key: ":id"'
    );
  }
  const [, placeholder, rule] = ROUTE_PATTERN.exec(path) ?? [];
  if (placeholder === undefined || rule === undefined) return undefined;
  return `${JSON.stringify(rule)} behind "${placeholder}" is no rule as in a route, but text in every key. Write "${placeholder}" alone`;
}

/** The name of the value, beside which some languages put its type: `{id:int}`, `<int:id>`. */
function nameIn(found: string, inside: string): string {
  const parts = inside.split(':');
  const name = (found.startsWith('<') ? parts.at(-1) : parts[0])?.trim() ?? '';
  return NAME.test(name) ? name : 'id';
}
