import { InvalidLockKeyError } from '../../lock/errors.js';

/** @throws InvalidLockKeyError for what cannot name a resource in every store */
export function checkResource(resource: string): void {
  if (typeof resource === 'string' && resource !== '' && !resource.includes('\0')) return;
  throw new InvalidLockKeyError(
    `Not the name of a resource: ${JSON.stringify(resource)}. It is a text that is not empty and has no NUL, ` +
      'the key of the lock that protects it, for example',
  );
}
