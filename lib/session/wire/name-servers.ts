import { CANCELLED, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';

/** Resolves when name servers answer at all; what they answer does not matter here. Rejects when they are silent. */
export type NameServersSpeak = (host: string, signal: AbortSignal) => Promise<void>;

/**
 * Resolves when the system's look-up of a name will end soon, because the hosts file lists the name or the name servers
 * answer for it. A look-up of the system can be neither stopped nor left behind by a process that ends, and against
 * silent name servers it takes tens of seconds. This question takes no thread, and is taken back when the signal
 * aborts.
 */
export async function nameServersSpeak(
  host: string,
  signal: AbortSignal,
  client = new Resolver(),
  domains = searchDomains(),
): Promise<void> {
  if (textOf('/etc/hosts').toLowerCase().split(/\s+/).includes(host.toLowerCase())) return;
  const stop = (): void => client.cancel();
  signal.addEventListener('abort', stop, { once: true });
  try {
    // The system may ask for the name with any of the search domains behind it.
    const names = [host, ...domains.map((domain) => `${host}.${domain}`)];
    const questions = names.map((name) => client.resolve4(name));
    const answers = questions.map((question) => question.catch(failOnSilence));
    // The system stops at the first name that exists, and asks for every one where none does.
    await Promise.any([...questions, Promise.all(answers)]);
  } catch (error) {
    throw new Error('the name servers do not answer', { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
    client.cancel();
  }
}

/** An answer that the name does not exist is an answer, too. */
function failOnSilence(error: NodeJS.ErrnoException): void {
  if (error.code === TIMEOUT || error.code === CANCELLED) throw error;
}

function searchDomains(): string[] {
  const line = /^(?:search|domain)\s(.*)$/m.exec(textOf('/etc/resolv.conf'))?.[1] ?? '';
  return line.split(/\s+/).filter((domain) => domain !== '');
}

function textOf(path: string): string {
  try {
    // The file is read synchronously, without a thread: all threads of the pool may hang in look-ups.
    return readFileSync(path, 'utf8');
  } catch {
    // Other systems have no such file.
    return '';
  }
}
