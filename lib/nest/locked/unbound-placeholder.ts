import type { KnownParameters } from './bind-placeholders.js';
import { typeOfNoKeyValue } from './declared-types.js';
import { isNameChosen } from './parameter-names.js';
import type { RouteParameter } from './route-parameters.js';

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
export function describeUnbound(where: string, placeholder: string, parameters: KnownParameters): string {
  const [head = placeholder] = placeholder.split('.');
  const type = unfitType(placeholder, parameters);
  const cure = type === undefined ? `@LockKey('${head}')` : `@LockKey('${head}', (${head}) => ...)`;
  const hints = [nameTooShort(head, type, parameters), partOfRequest(placeholder, parameters), replaced(parameters)];
  return [
    `${where}: placeholder ":${placeholder}" binds to nothing. Known: [${known(parameters).join(', ')}].`,
    ...hints.filter((hint) => hint !== undefined),
    `Put ${cure} in front of the parameter, or say it with keys: (...args) => ({ ${JSON.stringify(placeholder)}: ... })`,
  ].join(' ');
}

function known({ notes, routes, names }: KnownParameters): string[] {
  return [
    ...notes.flatMap((note) => (note.kind === 'key' ? [`key ${note.name}`] : [])),
    ...routes.map(({ property, roots }) => (property === undefined ? `route ${roots[0]}.*` : `route ${property}`)),
    ...names.flatMap(({ name }) => (isNameChosen(name) ? [`param ${name}`] : [])),
  ];
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
