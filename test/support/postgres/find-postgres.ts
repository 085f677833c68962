import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../find-zookeeper/command.js';
import { installWithoutStarting } from '../debian-services/install.js';

const ADVICE =
  'The tests of fencing need a PostgreSQL. Install it (Debian: apt-get install postgresql), or set POSTGRES_BIN to the ' +
  'folder with initdb and postgres.';
const DEBIAN_FOLDER = '/usr/lib/postgresql';

/** The folder with `initdb`, `postgres` and `pg_isready`; installs Debian's package where there is none. */
export async function postgresFolder(): Promise<string> {
  const here = await folderHere();
  if (here !== undefined) return here;
  await installWithoutStarting(['postgresql'], ADVICE);
  const installed = await folderHere();
  if (installed === undefined) throw new Error(`PostgreSQL is installed, yet not to be found. ${ADVICE}`);
  return installed;
}

async function folderHere(): Promise<string | undefined> {
  const given = process.env['POSTGRES_BIN'];
  if (given !== undefined && given !== '') {
    if (isFolder(given)) return given;
    throw new Error(`POSTGRES_BIN is ${given}, where there is no initdb and no postgres.`);
  }
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const newestFirst = versions.sort((one, other) => Number(other) - Number(one));
  const debian = newestFirst.map((version) => join(DEBIAN_FOLDER, version, 'bin')).find(isFolder);
  if (debian !== undefined) return debian;
  const told = await run('pg_config', ['--bindir']).then(
    (text) => text.trim(),
    () => '',
  );
  return isFolder(told) ? told : undefined;
}

function isFolder(folder: string): boolean {
  return existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'));
}

/** PostgreSQL does not run as root: as whom it runs then. */
export async function postgresUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]).catch(() => []);
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody.');
}
