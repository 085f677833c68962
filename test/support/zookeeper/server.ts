import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ZooKeeperJava } from '../find-zookeeper/jars.js';
import { eventually } from '../process/eventually.js';
import { killWithUs } from '../process/reaper.js';
import { freezeProcess, hasEnded, killProcess, resumeProcess } from '../process/signals.js';
import { fourLetterWord } from './four-letter.js';
import { DEFAULT_START_WITHIN_MS, type ServerOptions } from './options.js';
import * as reports from './reports.js';
import { configText, jvmFlags, type Peer, type ServerPorts } from './server-config.js';

export interface ServerSettings {
  /** 1, 2, 3 in an ensemble. */
  serverId: number;
  /** Holds all that belongs to this server; made at the first launch. */
  folder: string;
  ports: ServerPorts;
  /** Empty for a single server. */
  peers: readonly Peer[];
  options: ServerOptions;
  java: ZooKeeperJava;
}

const LOG_TAIL_LINES = 40;
/** A frozen server answers nothing: asking for its role must not take long. */
const ROLE_WITHIN_MS = 500;

/** One ZooKeeper process that a test may treat badly. */
export class ZooKeeperServer {
  readonly id: number;
  private child: ChildProcess | undefined;
  private frozen = false;
  /** What the last restart changed. */
  private changes: Partial<ServerOptions> = {};

  constructor(private readonly settings: ServerSettings) {
    this.id = settings.serverId;
  }

  get port(): number {
    return this.settings.ports.client;
  }

  /** `127.0.0.1:port` */
  get connect(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The TLS port; throws when the server was started without `tls`. */
  get securePort(): number {
    const { secure } = this.settings.ports;
    if (secure === undefined) throw new Error('This server has no TLS port: start it with the option tls.');
    return secure;
  }

  get isRunning(): boolean {
    return this.child !== undefined && !hasEnded(this.child);
  }

  get isFrozen(): boolean {
    return this.frozen;
  }

  /** Starts the process and does not wait for it to serve. */
  async launch(): Promise<void> {
    if (this.isRunning) throw new Error(`Server ${this.id} is running already.`);
    const { folder, ports, peers, java } = this.settings;
    const options = { ...this.settings.options, ...this.changes };
    const { dataDir } = this;
    const configPath = join(folder, 'zoo.cfg');
    await mkdir(dataDir, { recursive: true });
    await writeFile(join(dataDir, 'myid'), `${this.id}\n`);
    await writeFile(configPath, configText(dataDir, ports, peers, options));
    const mainClass = peers.length === 0 ? 'server.ZooKeeperServerMain' : 'server.quorum.QuorumPeerMain';
    const args = [...jvmFlags(options), '-cp', java.classpath, `org.apache.zookeeper.${mainClass}`, configPath];
    const log = openSync(this.logPath, 'a');
    try {
      this.child = spawn(java.java, args, { cwd: folder, stdio: ['ignore', log, log] });
      await once(this.child, 'spawn');
    } finally {
      closeSync(log);
    }
    this.frozen = false;
    killWithUs(this.child);
  }

  /** Resolves when the server serves clients; rejects with the tail of its log when it does not in time, or has ended. */
  async waitUntilServing(withinMs = this.settings.options.startWithinMs ?? DEFAULT_START_WITHIN_MS): Promise<void> {
    await eventually(`ZooKeeper server ${this.id} serves on ${this.connect}`, () => this.isServing(), {
      withinMs,
      explain: () => this.logTail(),
      giveUp: () => {
        return this.isRunning ? undefined : new Error(`ZooKeeper server ${this.id} has ended.\n${this.logTail()}`);
      },
    });
  }

  /** Whether it serves clients now, on its TLS port too. */
  async isServing(): Promise<boolean> {
    if ((await this.role()) === 'none') return false;
    // The TLS port opens a moment after the other one.
    const { secure } = this.settings.ports;
    return secure === undefined || accepts(secure);
  }

  /** Starts a killed server again, on the same ports and with its data; resolves when it serves. */
  async start(): Promise<void> {
    await this.launch();
    await this.waitUntilServing();
  }

  /** SIGKILL: as a crash. Its data stay. */
  async kill(): Promise<void> {
    if (this.child !== undefined) await killProcess(this.child);
    this.frozen = false;
  }

  /** SIGSTOP: connections stay open, nothing is answered. */
  async freeze(): Promise<void> {
    await freezeProcess(this.running());
    this.frozen = true;
  }

  /** Lets a frozen server go on. */
  async resume(): Promise<void> {
    await resumeProcess(this.running());
    this.frozen = false;
  }

  /** Kills it and starts it again with its data, and with other options where given; resolves when it serves. */
  async restart(changes: Partial<ServerOptions> = {}): Promise<void> {
    await this.kill();
    this.changes = changes;
    await this.start();
  }

  /** Kills it and starts it again with nothing; in an ensemble it gets the others' data. Resolves when it serves. */
  async wipe(): Promise<void> {
    await this.kill();
    await this.deleteData();
    await this.start();
  }

  /** Removes all that a server that does not run has stored. */
  async deleteData(): Promise<void> {
    if (this.isRunning) throw new Error(`Server ${this.id} is running: kill it before its data are deleted.`);
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** The answer to a four-letter word, such as `stat`. */
  fourLetter(word: string, withinMs?: number): Promise<string> {
    return fourLetterWord(this.port, word, withinMs);
  }

  /** `none` while it does not serve (no quorum) or does not answer (killed, frozen). */
  async role(): Promise<reports.Role> {
    try {
      return reports.parseRole(await this.fourLetter('srvr', ROLE_WITHIN_MS));
    } catch {
      return 'none';
    }
  }

  /** Watches set on this server. */
  async watchCount(): Promise<number> {
    return reports.parseWatchCount(await this.fourLetter('wchs'));
  }

  /** The sessions that watch each path on this server. */
  async watchesByPath(): Promise<Map<string, bigint[]>> {
    return reports.parseWatchesByPath(await this.fourLetter('wchp'));
  }

  async connections(): Promise<reports.ConnectionReport[]> {
    return reports.parseConnections(await this.fourLetter('cons'));
  }

  /** Sessions and their ephemeral nodes. */
  async dump(): Promise<reports.SessionReport> {
    return reports.parseDump(await this.fourLetter('dump'));
  }

  /** The figures of `mntr`, such as `zk_znode_count`. */
  async monitor(): Promise<Map<string, number | string>> {
    return reports.parseMonitor(await this.fourLetter('mntr'));
  }

  /** What the server printed, over all its starts. */
  log(): string {
    return readFileSync(this.logPath, 'utf8');
  }

  logTail(lines = LOG_TAIL_LINES): string {
    return `Last lines of the log of server ${this.id}:\n${this.log().trimEnd().split('\n').slice(-lines).join('\n')}`;
  }

  /** Where it keeps its snapshots and logs. */
  get dataDir(): string {
    return join(this.settings.folder, 'data');
  }

  private get logPath(): string {
    return join(this.settings.folder, 'server.log');
  }

  private running(): ChildProcess {
    if (this.child === undefined || !this.isRunning) throw new Error(`Server ${this.id} is not running.`);
    return this.child;
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
