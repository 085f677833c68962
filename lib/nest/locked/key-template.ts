import { checkKey } from '../../engine/key.js';
import { InvalidLockKeyError, LockConfigurationError } from '../../lock/errors.js';
import { encodeKeyValue } from './encode-key-value.js';
import { foreignPlaceholder } from './foreign-placeholders.js';

const PLACEHOLDER = /:([A-Za-z_$][\w$.]*)/g;
/** A colon without a name was surely meant as a placeholder. A colon elsewhere, as in `12:30`, is a character like others. */
const NAMELESS = /\/:/;
/** Characters that an encoded value may have: between two placeholders they do not tell where the one value ends. */
const MAY_STAND_IN_A_VALUE = /^[\w\-.!~*'()%]*$/;

/** `/locks/:tenant/:id` taken apart. */
export interface KeyTemplate {
  readonly path: string;
  /** The texts before, between and behind the placeholders: one more than there are placeholders. */
  readonly literals: readonly string[];
  /** The names, in the order in which they stand; one may come twice. */
  readonly placeholders: readonly string[];
}

/** @throws LockConfigurationError for a path that can be no key, whatever its values are */
export function parseKeyTemplate(path: string, where: string): KeyTemplate {
  const foreign = foreignPlaceholder(path);
  if (foreign !== undefined) throw new LockConfigurationError(`${where}: ${foreign}`);
  const parts = path.split(PLACEHOLDER);
  const literals = parts.filter((_, index) => index % 2 === 0);
  const placeholders = parts.filter((_, index) => index % 2 === 1);
  if (literals.some((literal) => NAMELESS.test(literal))) {
    throw new LockConfigurationError(
      `${where}: a ":" at the beginning of a segment without a name after it. Placeholders are named like variables: ":id"`,
    );
  }
  const malformed = placeholders.find((name) => name.split('.').includes(''));
  if (malformed !== undefined) {
    throw new LockConfigurationError(
      `${where}: the placeholder ":${malformed}" has an empty part. A dot leads into an object, as in ":body.order.id"`,
    );
  }
  const glued = literals.slice(1, -1).find((literal) => !literal.includes('/') && MAY_STAND_IN_A_VALUE.test(literal));
  if (glued !== undefined) {
    throw new LockConfigurationError(
      `${where}: two placeholders with ${JSON.stringify(glued)} between them: different values could make the same key. ` +
        'Separate them with "/", or with a character that values cannot contain, such as ","',
    );
  }
  try {
    checkKey(literals.join('x'));
  } catch (error) {
    if (!(error instanceof InvalidLockKeyError)) throw error;
    // The key that was checked has a sample value in each place; the error shows the path instead.
    const message = error.details.replace(JSON.stringify(error.key), JSON.stringify(path));
    throw new LockConfigurationError(`${where}: ${message}`, undefined, { cause: error });
  }
  return { path, literals, placeholders };
}

/** A function from a call's arguments to its key. `readers` has one for each placeholder. */
export function keyBuilder(
  { path, literals, placeholders }: KeyTemplate,
  readers: readonly ((args: readonly unknown[]) => unknown)[],
): (args: readonly unknown[]) => string {
  const [first = '', ...rest] = literals;
  const parts = rest.map((literal, index) => ({ literal, name: placeholders[index] ?? '', read: readers[index] }));
  return (args) => {
    let key = first;
    for (const { literal, name, read } of parts) key += encodeKeyValue(read?.(args), name, path) + literal;
    return key;
  };
}
