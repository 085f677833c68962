import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '../process/error-code.js';
import { folderRemoved, removeWithUs } from '../process/reaper.js';

const execute = promisify(execFile);

export interface Identity {
  /** PEM, as `node:tls` takes it. */
  key: string;
  cert: string;
  /** What ZooKeeper makes of it: the id of scheme `x509` in an ACL. */
  x509Id: string;
}

export interface Certificates {
  /** PEM of the authority that signed server and client. */
  ca: string;
  caPath: string;
  /** PEM file with the server's key and certificate. */
  serverKeyStorePath: string;
  client: Identity;
  /** Another client of the same authority, for ACLs that keep one from the other's nodes. */
  otherClient: Identity;
  /** A client of an authority that the server does not trust. */
  stranger: Identity;
  remove(): Promise<void>;
}

export interface CertificateOptions {
  /** Names and addresses in the server's certificate. @default ['DNS:localhost', 'IP:127.0.0.1'] */
  serverNames?: readonly string[];
  /** The name of the authority. @default 'ca' */
  authority?: string;
}

/** Makes an authority and certificates for a server and clients, in a temporary folder; valid for some days. */
export async function createCertificates(options: CertificateOptions = {}): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'zookeeper-certificates-'));
  removeWithUs(folder);
  const { serverNames = ['DNS:localhost', 'IP:127.0.0.1'], authority = 'ca' } = options;
  await createAuthority(folder, authority);
  await createAuthority(folder, 'stranger-ca');
  const server = await createIdentity(folder, authority, 'server', serverNames);
  const serverKeyStorePath = join(folder, 'server-with-key.pem');
  await writeFile(serverKeyStorePath, server.key + server.cert);
  const caPath = join(folder, `${authority}.pem`);
  return {
    ca: await readFile(caPath, 'utf8'),
    caPath,
    serverKeyStorePath,
    client: await createIdentity(folder, authority, 'client'),
    otherClient: await createIdentity(folder, authority, 'other-client'),
    stranger: await createIdentity(folder, 'stranger-ca', 'stranger'),
    remove: async () => {
      await rm(folder, { recursive: true, force: true });
      folderRemoved(folder);
    },
  };
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const VALID_DAYS = '30';

async function createAuthority(folder: string, name: string): Promise<void> {
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
  await openssl(folder, ['req', '-x509', ...NEW_KEY, ...files, '-days', VALID_DAYS, '-subj', `/CN=${name}`]);
}

async function createIdentity(
  folder: string,
  authority: string,
  name: string,
  alternativeNames: readonly string[] = [`DNS:${name}`],
): Promise<Identity> {
  await openssl(folder, ['req', ...NEW_KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`]);
  await writeFile(join(folder, `${name}.ext`), `subjectAltName=${alternativeNames.join(',')}\n`);
  const signer = ['-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-CAcreateserial'];
  const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`];
  await openssl(folder, ['x509', '-req', ...files, ...signer, '-days', VALID_DAYS]);
  return {
    key: await readFile(join(folder, `${name}.key`), 'utf8'),
    cert: await readFile(join(folder, `${name}.pem`), 'utf8'),
    x509Id: `CN=${name}`,
  };
}

async function openssl(folder: string, args: readonly string[]): Promise<void> {
  try {
    await execute('openssl', [...args], { cwd: folder });
  } catch (cause) {
    const isMissing = errorCode(cause) === 'ENOENT';
    const advice = isMissing ? 'It is not installed (Debian: apt-get install openssl).' : `openssl ${args.join(' ')}`;
    throw new Error(`Certificates for a test could not be made with openssl. ${advice}`, { cause });
  }
}
