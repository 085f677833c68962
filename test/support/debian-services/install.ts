import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logToStderr, run, type Log } from '../find-zookeeper/command.js';
import { whyNotDebianAsRoot } from '../find-zookeeper/debian.js';

/**
 * Installs packages of which Debian would start a service at once: a policy that says no to all starts is there for as
 * long as it takes. Test files run side by side, so one installs and the others wait for it.
 */
const SCRIPT = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT INT TERM HUP
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
apt-get -o DPkg::Lock::Timeout=300 update -qq
apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@"
`;
const LOCK = join(tmpdir(), 'nestjs-zookeeper-lock-test-install');

/** Rejects with `advice` where packages cannot be installed, or are not to be had. */
export async function installWithoutStarting(
  packages: readonly string[],
  advice: string,
  log: Log = logToStderr,
): Promise<void> {
  const obstacle = await whyNotDebianAsRoot();
  if (obstacle !== undefined) throw new Error(`${advice} (It is not done for you: ${obstacle}.)`);
  log(`apt-get install ${packages.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('flock', [LOCK, '/bin/sh', '-c', SCRIPT, 'sh', ...packages], { env }).catch((error: unknown) => {
    // The whole script stands in front of it.
    const reason = String(error).split('` failed: ').at(-1) ?? '';
    throw new Error(`apt-get install ${packages.join(' ')}: ${reason}. ${advice}`, { cause: error });
  });
}
