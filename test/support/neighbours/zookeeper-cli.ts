import { zookeeperClasspath } from '../find-zookeeper/jars.js';
import { within } from '../process/eventually.js';
import { LineProcess } from './line-process.js';

const ANSWER_WITHIN_MS = 15_000;
/** Asked for behind every command: its answer tells that the command's own is complete. */
const FULL_STOP = 'printwatches';
/** It answers on two streams: through one pipe, what it says first comes first. */
const IN_ONE_STREAM = ['-c', 'exec "$@" 2>&1', 'sh'];

/** ZooKeeper's own command line (`zkCli.sh`) in one session, which lasts until it is closed. */
export class ZooKeeperCli implements AsyncDisposable {
  readonly #process: LineProcess;

  private constructor(process: LineProcess) {
    this.#process = process;
  }

  /** Resolves when it has a session. */
  static async start(connect: string): Promise<ZooKeeperCli> {
    const { java, classpath } = await zookeeperClasspath();
    const flags = ['-XX:TieredStopAtLevel=1', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'];
    const main = 'org.apache.zookeeper.ZooKeeperMain';
    const args = [...flags, '-cp', classpath, main, '-waitforconnection', '-timeout', '8000', '-server', connect];
    const cli = new ZooKeeperCli(await LineProcess.start('zkCli', 'sh', [...IN_ONE_STREAM, java, ...args]));
    try {
      await cli.run('ls /');
      return cli;
    } catch (error) {
      await cli.kill();
      throw error;
    }
  }

  /** Runs one command as a person would type it; resolves with what it printed. */
  async run(command: string): Promise<string[]> {
    const printed: string[] = [];
    let stopListening = (): void => undefined;
    const complete = new Promise<void>((resolve) => {
      stopListening = this.#process.onLine((line) => {
        if (/^printwatches is (on|off)$/.test(line)) resolve();
        else printed.push(line);
      });
    });
    try {
      this.#process.say(command);
      this.#process.say(FULL_STOP);
      await within(ANSWER_WITHIN_MS, `zkCli answers '${command}'. ${this.#process.tail()}`, complete);
      return printed;
    } finally {
      stopListening();
    }
  }

  /** `create -e -s <path> <data>`. @returns the path that was created */
  async createEphemeralSequential(path: string, data: string): Promise<string> {
    const printed = await this.run(`create -e -s ${path} ${data}`);
    const created = printed.map((line) => /^Created (\S+)$/.exec(line)?.[1]).find((name) => name !== undefined);
    if (created === undefined) throw new Error(`zkCli created nothing: ${printed.join('; ')}`);
    return created;
  }

  /** `ls <path>`. */
  async list(path: string): Promise<string[]> {
    const printed = await this.run(`ls ${path}`);
    const names = printed.map((line) => /^\[(.*)\]$/.exec(line)?.[1]).find((list) => list !== undefined);
    if (names === undefined) throw new Error(`zkCli lists nothing: ${printed.join('; ')}`);
    return names === '' ? [] : names.split(', ');
  }

  /** `quit`: ends its session, and with it what it created. */
  async quit(): Promise<void> {
    this.#process.say('quit');
    await within(ANSWER_WITHIN_MS, `zkCli ends. ${this.#process.tail()}`, this.#process.ended);
  }

  async kill(): Promise<void> {
    await this.#process.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
