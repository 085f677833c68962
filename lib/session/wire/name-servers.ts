import { CANCELLED, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';

/** What the name servers said does not matter to those who wait for this, only that they speak. */
export type NameServersSpeak = (host: string, signal: AbortSignal) => Promise<void>;

/**
 * Resolves when the system's look-up of a name will end soon: the hosts file lists the name, or the name servers answer
 * for it. That look-up cannot be stopped, and neither can a process end before it; against silent name servers it takes
 * tens of seconds. This question takes no thread and is taken back when the signal aborts.
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
    // The system may ask for the name with any of these behind it.
    const names = [host, ...domains.map((domain) => `${host}.${domain}`)];
    const questions = names.map((name) => client.resolve4(name));
    const answers = questions.map((question) => question.catch(failOnSilence));
    // The system stops at the first name that it finds, and asks for every one where it finds none.
    await Promise.any([...questions, Promise.all(answers)]);
  } catch (error) {
    throw new Error('the name servers do not answer', { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
    client.cancel();
  }
}

/** That a name does not exist is an answer. */
function failOnSilence(error: NodeJS.ErrnoException): void {
  if (error.code === TIMEOUT || error.code === CANCELLED) throw error;
}

function searchDomains(): string[] {
  const line = /^(?:search|domain)\s(.*)$/m.exec(textOf('/etc/resolv.conf'))?.[1] ?? '';
  return line.split(/\s+/).filter((domain) => domain !== '');
}

/** Read without a thread, since those of the pool may all hang in look-ups. Other systems have no such file. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
