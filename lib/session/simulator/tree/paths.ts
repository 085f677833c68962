/** ZooKeeper refuses these in a path: control characters, surrogates (so all beyond the BMP), private use, specials. */
const REFUSED_CHARACTER = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Applies ZooKeeper's own rules (`PathUtils.validatePath`). */
export function isValidPath(path: string): boolean {
  if (path === '/') return true;
  if (!path.startsWith('/') || REFUSED_CHARACTER.test(path)) return false;
  return path
    .slice(1)
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

/** Java's `%010d`: at least ten characters, the sign among them. */
export function sequenceSuffix(counter: number): string {
  return counter < 0 ? `-${String(-counter).padStart(9, '0')}` : String(counter).padStart(10, '0');
}
