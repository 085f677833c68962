import { SessionError } from './errors.js';

/**
 * Servers refuse these inside a segment: control characters, surrogates (so all beyond the BMP), private use, specials.
 */
const REFUSED = '\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\uf8ff\\ufff0-\\uffff';
const VALID_PATH = new RegExp(`^(?:/|(?:/(?!\\.{1,2}(?:/|$))[^/${REFUSED}]+)+)$`);

const SLASH = 47;
const IS_ORDINARY = Uint8Array.from({ length: 128 }, (_, code) => (/[\w-]/.test(String.fromCharCode(code)) ? 1 : 0));

/** Whether it is right, and has nothing in it but slashes and `A-Z a-z 0-9 _ -`. For nearly all paths this saves the slower check. */
function isOrdinary(path: string): boolean {
  if (path.charCodeAt(0) !== SLASH) return false;
  let before = 0;
  for (let index = 0; index < path.length; index += 1) {
    const code = path.charCodeAt(index);
    const isRight = code === SLASH ? before !== SLASH : code < IS_ORDINARY.length && IS_ORDINARY[code] === 1;
    if (!isRight) return false;
    before = code;
  }
  return before !== SLASH;
}

/**
 * Refuses a path here, before any I/O, that a server would refuse.
 * @param path absolute; for a sequential create it may end in `/`, as the server puts the number there
 */
export function checkPath(path: string, sequential = false): SessionError | undefined {
  if (isOrdinary(path) || VALID_PATH.test(path)) return undefined;
  if (sequential && path.length > 2 && path.endsWith('/') && VALID_PATH.test(path.slice(0, -1))) return undefined;
  return new SessionError(
    'BAD_ARGUMENTS',
    `Not a path ZooKeeper accepts: ${JSON.stringify(path)}. It must be absolute, without empty, "." or ".." segments, ` +
      'a "/" at the end, control or private-use characters, or characters beyond the BMP (emoji)',
    path,
  );
}

/** The path as the servers know it. */
export function withChroot(chroot: string, path: string): string {
  if (chroot === '') return path;
  return path === '/' ? chroot : chroot + path;
}

/** The server's path as this client's callers know it. */
export function withoutChroot(chroot: string, path: string): string {
  if (chroot === '') return path;
  return path.length === chroot.length ? '/' : path.slice(chroot.length);
}

/** `/a/b/c` -> `/a`, `/a/b`, `/a/b/c`; nothing for '' and `/`. */
export function ancestry(path: string): string[] {
  const paths: string[] = [];
  for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) paths.push(path.slice(0, end));
  if (path.length > 1) paths.push(path);
  return paths;
}
