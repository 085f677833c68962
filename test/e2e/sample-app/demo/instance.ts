import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../support/proxy/ports.js';
import { eventually } from '../../../support/process/eventually.js';
import { killWithUs } from '../../../support/process/reaper.js';
import { hasEnded, killProcess } from '../../../support/process/signals.js';

const MAIN = fileURLToPath(new URL('../../../../dist/sample-app/main.js', import.meta.url));

/** One process of the fleet, as `PORT=... npm start` makes it. */
export class Instance {
  #printed = '';

  private constructor(
    readonly name: string,
    readonly url: string,
    readonly process: ChildProcess,
  ) {
    process.stdout?.on('data', (chunk: Buffer) => (this.#printed += chunk.toString()));
    process.stderr?.on('data', (chunk: Buffer) => (this.#printed += chunk.toString()));
  }

  /** Resolves when the instance is healthy: it has a session. */
  static async start(name: string, environment: Readonly<Record<string, string>>): Promise<Instance> {
    const port = await freePort();
    const child = spawn(process.execPath, ['--enable-source-maps', MAIN], {
      env: { ...process.env, ...environment, PORT: String(port), NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    killWithUs(child);
    const instance = new Instance(name, `http://127.0.0.1:${port}`, child);
    await eventually(`instance ${name} is healthy`, async () => (await fetch(`${instance.url}/health`)).ok, {
      withinMs: 20_000,
      explain: () => instance.#printed,
      giveUp: () => (instance.isRunning ? undefined : new Error(`Instance ${name} has ended.\n${instance.#printed}`)),
    });
    return instance;
  }

  get isRunning(): boolean {
    return !hasEnded(this.process);
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** SIGKILL: no goodbye to anybody. */
  kill(): Promise<void> {
    return killProcess(this.process);
  }

  /** SIGTERM: it gives its locks back and ends by itself. Safe for one that has ended. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
  }
}
