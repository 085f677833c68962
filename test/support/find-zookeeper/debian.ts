import { readFile } from 'node:fs/promises';
import { run, type Log } from './command.js';

/** Why packages cannot be installed here, or `undefined` when they can. */
export async function whyNotDebianAsRoot(): Promise<string | undefined> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  if (!/^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release)) return 'this is not a Debian system';
  if (process.getuid?.() !== 0) return 'not root, so packages cannot be installed';
  return undefined;
}

/** Installs Debian packages without asking anything; waits for another apt on the same machine. */
export async function aptInstall(packages: readonly string[], log: Log): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  log(`apt-get update && apt-get install ${packages.join(' ')}`);
  await run('apt-get', [...wait, 'update', '-qq'], { env });
  await run('apt-get', [...wait, 'install', '-y', '-qq', '--no-install-recommends', ...packages], { env });
}

/** Whether the package lists know a package; they must have been updated before. */
export async function aptKnows(name: string): Promise<boolean> {
  return run('apt-cache', ['policy', name]).then(
    (text) => /Candidate: (?!\(none\))/.test(text),
    () => false,
  );
}
