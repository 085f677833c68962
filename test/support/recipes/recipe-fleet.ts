import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TICK_MS } from '../locks/times.js';
import { type NodeChild, ofType, startNodeChild } from '../process/node-child.js';
import { fileNameOf, RecipeFolder } from './recipe-folder.js';
import { entries, type Entry } from './stand-ins/diary.js';

export interface InstanceOptions {
  /** S. @default 20 ticks, so that none ends on a busy machine */
  readonly sessionTimeoutMs?: number;
  /** `RECIPE_STUCK_AT` and `RECIPE_STEPS` for the stand-ins, `RECIPE_CONNECT_WITHIN_MS` for the application. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Processes with one recipe in each, which share a diary as applications share a database. */
export class RecipeFleet implements AsyncDisposable {
  readonly #instances: NodeChild[] = [];

  private constructor(
    private readonly connect: string,
    private readonly folder: RecipeFolder,
    private readonly recipe: string,
    private readonly standIn: string,
  ) {}

  /** @param standIn the class that the recipe imports of its reader's application */
  static async make(connect: string, recipe: string, standIn: string): Promise<RecipeFleet> {
    const fleet = new RecipeFleet(connect, await RecipeFolder.make(), recipe, standIn);
    await appendFile(fleet.#diary, '');
    return fleet;
  }

  /** Starts a process; it says `ready` when the application has started. */
  async start({ sessionTimeoutMs = 20 * TICK_MS, env = {} }: InstanceOptions = {}): Promise<NodeChild> {
    const places = [this.recipe, this.standIn].map((name) => `${fileNameOf(name)}:${name}`);
    const args = [this.folder.path, ...places, this.connect, String(sessionTimeoutMs), String(TICK_MS)];
    const script = new URL('./application-process.ts', import.meta.url);
    const instance = await startNodeChild(script, { args, env: { RECIPE_DIARY: this.#diary, ...env } });
    this.#instances.push(instance);
    return instance;
  }

  async startReady(options: InstanceOptions = {}): Promise<NodeChild> {
    const instance = await this.start(options);
    await instance.next('ready', ofType('ready'));
    return instance;
  }

  /** What the applications have written down, in the order in which they did. */
  diary(): Entry[] {
    return entries(this.#diary);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A shutdown in order leaves nothing in the queues of the next test.
    for (const instance of this.#instances) if (instance.isRunning) instance.signal('SIGTERM');
    await Promise.all(this.#instances.map((instance) => instance.ended));
    await this.folder.remove();
  }

  get #diary(): string {
    return join(this.folder.path, 'diary');
  }
}
