import { createSecureContext, type SecureContext } from 'node:tls';
import { types } from 'node:util';
import { LockConfigurationError } from '../../lock/errors.js';
import { areSettings, mistakeInSettings, type TlsSettings, type TlsSource } from '../tls-settings.js';
import { asError } from './connection-causes.js';

/** How one connection is encrypted. */
export interface Encryption {
  readonly settings: TlsSettings;
  readonly context: SecureContext;
}

/** @throws when a certificate or key cannot be read */
export function encryptionBy(settings: TlsSettings): Encryption {
  const { checkServerIdentity: check } = settings;
  const guarded = (check ?? undefined) === undefined ? {} : { checkServerIdentity: guardedCheck(check!) };
  return { settings: { ...settings, ...guarded }, context: createSecureContext(settings) };
}

/** The application's own check of a certificate. All but "nothing" is a refusal here, which fails this attempt alone. */
function guardedCheck(check: NonNullable<TlsSettings['checkServerIdentity']>): typeof check {
  return (host, certificate) => {
    try {
      const answer: unknown = check(host, certificate);
      if ((answer ?? undefined) === undefined) return undefined;
      if (types.isNativeError(answer)) return answer;
      if (types.isPromise(answer)) answer.catch(() => undefined);
      // `node:tls` would take `false` for agreement.
      const found = types.isPromise(answer) ? 'a promise' : `a ${typeof answer}`;
      return new Error(`tls: checkServerIdentity must return an Error, or nothing where it agrees, not ${found}`);
    } catch (cause) {
      // `node:tls` calls the check from an event of the socket, where an error that is thrown ends the process.
      return new Error(`tls: checkServerIdentity failed: ${asError(cause).message}`, { cause });
    }
  };
}

/**
 * Asks the function that was given as the option `tls`.
 * @param end nobody waits for the answer any more
 * @throws LockConfigurationError for an answer that is no object, as the next answer will be none either; an Error for
 * all else, because files that are being replaced may not fit together for a moment
 */
export function encryptionFrom(source: TlsSource, end: AbortSignal): Promise<Encryption> {
  return new Promise((resolve, reject) => {
    // A function that never answers would otherwise keep every dial that has asked it.
    const waiting: { dial?: { resolve: typeof resolve; reject: typeof reject } } = { dial: { resolve, reject } };
    end.addEventListener('abort', () => delete waiting.dial, { once: true });
    settingsFrom(source)
      .then(encryptionBy)
      .then(
        (encryption) => waiting.dial?.resolve(encryption),
        (error: unknown) => waiting.dial?.reject(asError(error)),
      );
  });
}

async function settingsFrom(source: TlsSource): Promise<TlsSettings> {
  const answer = await answerOf(source);
  if (!areSettings(answer)) {
    // The answer itself is not shown, because it may be a key.
    const found = kindOf(answer);
    throw new LockConfigurationError(
      `tls: the function must return an object such as { ca, cert, key }, or a promise of one, not ${found}`,
    );
  }
  const mistake = mistakeInSettings(answer);
  if (mistake !== undefined) throw new Error(`tls: what the function returned cannot be used: ${mistake}`);
  return answer;
}

function kindOf(answer: unknown): string {
  if (answer === null) return 'null';
  if (Array.isArray(answer)) return 'a list';
  return ArrayBuffer.isView(answer) ? 'bytes' : typeof answer;
}

async function answerOf(source: TlsSource): Promise<unknown> {
  try {
    return await source();
  } catch (cause) {
    throw new Error(`tls: the function failed: ${asError(cause).message}`, { cause });
  }
}
