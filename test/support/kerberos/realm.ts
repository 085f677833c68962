import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { installWithoutStarting } from '../debian-services/install.js';
import { run } from '../find-zookeeper/command.js';
import { eventually } from '../process/eventually.js';
import { folderRemoved, killWithUs } from '../process/reaper.js';
import { freezeProcess, hasEnded, killProcess, resumeProcess } from '../process/signals.js';
import { freePort } from '../proxy/ports.js';
import { makeWorkspace } from '../zookeeper/workspace.js';

const NAME = 'LOCKS.TEST';
const PACKAGES = ['krb5-kdc', 'krb5-admin-server', 'krb5-user'];
const ADVICE = `The tests of Kerberos need a KDC of MIT Kerberos. Install it (Debian: apt-get install ${PACKAGES.join(' ')}).`;
const STARTS_WITHIN_MS = 30_000;
/** Debian's folders for programs of the administrator are in nobody else's PATH. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
const CACHE_OFFSET_AT = 8;

/** A Kerberos realm of a test's own, with its KDC on a port of 127.0.0.1 and all files in a temporary folder. */
export class Realm {
  #kdc: ChildProcess | undefined;

  constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {}

  readonly name = NAME;

  get configPath(): string {
    return join(this.folder, 'krb5.conf');
  }

  /** For processes that are to live in this realm, without a ticket. */
  get env(): Readonly<Record<string, string>> {
    return {
      KRB5_CONFIG: this.configPath,
      KRB5_KDC_PROFILE: join(this.folder, 'kdc.conf'),
      KRB5CCNAME: this.cache('none'),
      PATH,
    };
  }

  cache(name: string): string {
    return `FILE:${join(this.folder, `cache-${name}`)}`;
  }

  /** For processes that have what is in this cache. */
  withCache(name: string): Readonly<Record<string, string>> {
    return { ...this.env, KRB5CCNAME: this.cache(name) };
  }

  /** For processes that get their tickets from a keytab by themselves. */
  withKeytab(keytab: string, cache = 'of-keytab'): Readonly<Record<string, string>> {
    return { ...this.withCache(cache), KRB5_CLIENT_KTNAME: keytab };
  }

  async create(): Promise<void> {
    const libdefaults = [
      `default_realm = ${NAME}`,
      'dns_lookup_kdc = false',
      'dns_lookup_realm = false',
      'dns_canonicalize_hostname = false',
      'rdns = false',
      'udp_preference_limit = 1',
    ];
    const realm = `[realms]\n ${NAME} = {\n  kdc = 127.0.0.1:${this.port}\n }\n`;
    await writeFile(this.configPath, `[libdefaults]\n ${libdefaults.join('\n ')}\n${realm}`);
    const files = [`database_name = ${this.folder}/principals`, `key_stash_file = ${this.folder}/stash`];
    const lives = ['max_life = 1h', 'max_renewable_life = 1d'];
    await writeFile(
      join(this.folder, 'kdc.conf'),
      `[kdcdefaults]\n kdc_listen = ""\n kdc_tcp_listen = 127.0.0.1:${this.port}\n` +
        `[realms]\n ${NAME} = {\n  ${[...files, ...lives].join('\n  ')}\n }\n`,
    );
    await this.#run('kdb5_util', ['create', '-s', '-r', NAME, '-P', 'of-a-test']);
    await this.startKdc();
  }

  async startKdc(): Promise<void> {
    const log = openSync(this.#logPath, 'a');
    try {
      this.#kdc = spawn('krb5kdc', ['-n'], { env: { ...process.env, ...this.env }, stdio: ['ignore', log, log] });
    } finally {
      closeSync(log);
    }
    const kdc = this.#kdc;
    kdc.on('error', () => undefined);
    killWithUs(kdc);
    await eventually('the KDC listens', () => listens(this.port), {
      withinMs: STARTS_WITHIN_MS,
      explain: () => readFileSync(this.#logPath, 'utf8'),
      giveUp: () =>
        hasEnded(kdc) ? new Error(`The KDC has ended.\n${readFileSync(this.#logPath, 'utf8')}`) : undefined,
    });
  }

  async stopKdc(): Promise<void> {
    if (this.#kdc !== undefined) await killProcess(this.#kdc);
  }

  /** It takes connections, and answers nobody. */
  async freezeKdc(): Promise<void> {
    if (this.#kdc !== undefined) await freezeProcess(this.#kdc);
  }

  async resumeKdc(): Promise<void> {
    if (this.#kdc !== undefined) await resumeProcess(this.#kdc);
  }

  /** @returns the path of a keytab with the new keys of the principal, which is made where there is none */
  async keytab(principal: string, { maxLife = '1h', file = principal.replaceAll('/', '-') } = {}): Promise<string> {
    const path = join(this.folder, `${file}.keytab`);
    await rm(path, { force: true });
    await this.administer(`addprinc -randkey ${principal}`).catch(() => undefined);
    await this.administer(`modprinc -maxlife ${maxLife} -maxrenewlife 1d ${principal}`);
    await this.administer(`ktadd -k ${path} ${principal}`);
    if (!existsSync(path)) throw new Error(`There is no keytab for ${principal}.`);
    return path;
  }

  administer(command: string): Promise<string> {
    return this.#run('kadmin.local', ['-q', command]);
  }

  /** Puts a ticket into the cache, as what keeps tickets on a machine does. */
  async kinit(principal: string, keytab: string, cache: string, ...more: string[]): Promise<void> {
    await this.#run('kinit', ['-k', '-t', keytab, '-c', this.cache(cache), ...more, principal]);
  }

  /** Renews the ticket in the cache. */
  async renew(cache: string): Promise<void> {
    await this.#run('kinit', ['-R', '-c', this.cache(cache)]);
  }

  /** Gets a ticket for a service into the cache. */
  async ticketFor(service: string, cache: string): Promise<void> {
    await this.#run('kvno', ['-c', this.cache(cache), service]);
  }

  klist(cache: string): Promise<string> {
    return this.#run('klist', ['-c', this.cache(cache)]);
  }

  /**
   * Lets everybody who uses this cache take the KDC's clock for one that is ahead by so much: the library keeps the
   * difference between the two clocks in the header of the cache.
   */
  async skew(cache: string, seconds: number): Promise<void> {
    const file = await open(this.cache(cache).replace(/^FILE:/, ''), 'r+');
    try {
      const header = Buffer.alloc(16);
      await file.read(header, 0, header.length, 0);
      if (header.readUInt16BE(0) !== 0x0504 || header.readUInt16BE(4) !== 1) throw new Error('Another kind of cache.');
      header.writeInt32BE(seconds, CACHE_OFFSET_AT);
      await file.write(header, 0, header.length, 0);
    } finally {
      await file.close();
    }
  }

  /** Ends the KDC and removes all files. Safe to call twice. */
  async stop(): Promise<void> {
    await this.stopKdc();
    await rm(this.folder, { recursive: true, force: true });
    folderRemoved(this.folder);
  }

  get #logPath(): string {
    return join(this.folder, 'kdc.log');
  }

  #run(program: string, args: readonly string[]): Promise<string> {
    return run(program, args, { env: { ...process.env, ...this.env } });
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/** Starts a realm with nobody in it. Installs Debian's packages where they are missing; they start no service. */
export async function startRealm(): Promise<Realm> {
  const isThere = ['krb5kdc', 'kdb5_util', 'kadmin.local', 'kinit'].every((program) =>
    PATH.split(':').some((folder) => existsSync(join(folder, program))),
  );
  if (!isThere) await installWithoutStarting(PACKAGES, ADVICE);
  const realm = new Realm(await makeWorkspace(), await freePort());
  try {
    await realm.create();
    return realm;
  } catch (error) {
    await realm.stop();
    throw error;
  }
}
