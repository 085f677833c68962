import { CANCELLED, TIMEOUT } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { orAborted } from '../or-aborted.js';

/**
 * Resolves when the system's look-up of a name is expected to end soon. A look-up of the system can be neither stopped
 * nor left behind by a process that ends, and against silent name servers it takes 10 s or more. This question takes no
 * thread, and is taken back when the signal aborts. What the name servers answer does not matter here.
 *
 * @param textOf reads a file of the system
 */
export async function nameServersSpeak(
  host: string,
  signal: AbortSignal,
  client = new Resolver(),
  textOf: (path: string) => string = readText,
): Promise<void> {
  // The system finds a name of the hosts file without a name server. Without this line, a server with such a name would
  // be lost while the name servers are silent.
  const listed = textOf('/etc/hosts').replace(/#.*/g, '').toLowerCase().split(/\s+/);
  if (listed.includes(host.toLowerCase())) return;
  // The system also asks for the name with each search domain behind it. Without this line, it would be asked where the
  // name servers are silent for a domain only, and a process could not end. And the short names of a Kubernetes cluster
  // would be lost while no name server beyond the cluster answers. Of several such lines the last one counts.
  const searched = [...textOf('/etc/resolv.conf').matchAll(/^(?:search|domain)[ \t](.*)$/gm)].at(-1)?.[1];
  const names = [host, ...(searched?.match(/\S+/g) ?? []).map((domain) => `${host}.${domain}`)];
  const questions = names.map((name) => client.resolve4(name));
  const answers = questions.map((question) => question.catch(failOnSilence));
  try {
    // The system stops at the first name that exists, and asks for every one where none does.
    await orAborted(Promise.any([...questions, Promise.all(answers)]), signal);
  } catch (error) {
    throw new Error('the name servers do not answer', { cause: error });
  } finally {
    client.cancel();
  }
}

/** An answer that the name does not exist is an answer, too. */
function failOnSilence(error: NodeJS.ErrnoException): void {
  if (error.code === TIMEOUT || error.code === CANCELLED) throw error;
}

function readText(path: string): string {
  try {
    // The file is read synchronously, without a thread: all threads of the pool may be taken.
    return readFileSync(path, 'utf8');
  } catch {
    // Other systems have no such file, and Node's permission model may deny it.
    return '';
  }
}
