import { afterEach, beforeEach } from '@jest/globals';
import type { WorldSettings } from '../../../support/simulation/simulated-world.js';
import { type Client, type ClientOptions, EngineWorld } from './engine-world.js';

/**
 * Gives each test of the `describe` around it an ensemble of its own, with a connected lock service for each name. What it
 * returns stands for those of the test that runs, so a `describe` may take it apart: `const { engine, one } = useEngine('one')`.
 */
export function useEngine<Name extends string>(...names: Name[]): Engine<Name> {
  return useEngineWith({}, ...names);
}

/** The same, with services that all have these options, in a world of these settings. */
export function useEngineWith<Name extends string>(
  { world = {}, ...options }: ClientOptions & { readonly world?: WorldSettings },
  ...names: Name[]
): Engine<Name> {
  const engine = new EngineWorld(world);
  const clients = names.map((name) => [name, new CurrentClient()] as const);
  beforeEach(async () => {
    engine.begin();
    for (const [name, client] of clients) client.current = await engine.client(name, options);
  });
  afterEach(() => engine.end());
  return { engine, ...(Object.fromEntries<Client>(clients) as Record<Name, Client>) };
}

type Engine<Name extends string> = { readonly engine: EngineWorld } & Readonly<Record<Name, Client>>;

/** Stands for the lock service that the running test has under one name. */
class CurrentClient implements Client {
  current: Client | undefined;

  get process(): Client['process'] {
    return this.#now.process;
  }

  get session(): Client['session'] {
    return this.#now.session;
  }

  get locks(): Client['locks'] {
    return this.#now.locks;
  }

  get events(): Client['events'] {
    return this.#now.events;
  }

  sleep(durationMs: number): Promise<void> {
    return this.#now.sleep(durationMs);
  }

  get #now(): Client {
    if (this.current === undefined) throw new Error('The lock service is there only while a test runs.');
    return this.current;
  }
}
