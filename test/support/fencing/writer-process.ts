import type { MultiLockHandle } from '../../../lib/lock/handle.js';
import { ticketOf } from '../../../lib/fencing/znodes/ticket.js';
import { createLockService } from '../../../lib/open.js';
import { onParentMessage, sendToParent } from '../process/parent.js';
import { fileStore } from './stores/file-store.js';
import { httpStore } from './stores/http-store.js';
import { mariaDbStore } from './stores/mariadb-store.js';
import { objectStore } from './stores/object-store.js';
import { postgresStores } from './stores/postgres-stores.js';
import type { ProofStore, Shown, StorePlaces } from './stores/proof-store.js';
import { redisStore } from './stores/redis-store.js';
import { znodeStore } from './stores/znode-store.js';

/**
 * Takes one lock per store, all in one session, and adds entries to the text in each. Told to write again it does so by
 * what it remembers: the token and the text, as code does that was paused between its check and its write.
 */
export interface WriterSettings extends StorePlaces {
  readonly connect: string;
  readonly sessionTimeoutMs: number;
  readonly serverTickMs: number;
  readonly isGuarded: boolean;
}
export type WriterCommand =
  { readonly type: 'take' | 'add' | 'write again'; readonly entry: string } | { readonly type: 'release' | 'read' };

interface Memory {
  readonly shown: Shown;
  text: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as WriterSettings;
const locks = await createLockService({
  connect: settings.connect,
  sessionTimeoutMs: settings.sessionTimeoutMs,
  serverTickMs: settings.serverTickMs,
});
const storeSettings = { ...settings, locks };
const stores: readonly ProofStore[] = [
  await fileStore(storeSettings),
  ...postgresStores(storeSettings),
  await mariaDbStore(storeSettings),
  redisStore(storeSettings),
  objectStore(storeSettings),
  httpStore(storeSettings),
  znodeStore(storeSettings),
];
const keyOf = ({ name }: ProofStore): string => `/locks/${name}`;
const remembered = new Map<ProofStore, Memory>();
let held: MultiLockHandle | undefined;

async function take(): Promise<void> {
  held = await locks.acquireAll(stores.map(keyOf));
  for (const store of stores) {
    const lock = held.locks.find(({ key }) => key === keyOf(store));
    if (lock === undefined) throw new Error(`No lock for ${store.name}`);
    remembered.set(store, { shown: ticketOf(lock), text: '' });
  }
}

/** Claim, then read, then write. */
async function add(store: ProofStore, memory: Memory, entry: string): Promise<void> {
  await store.claim(memory.shown);
  memory.text = await store.read();
  const text = `${memory.text}${entry}\n`;
  await store.write(text, memory.shown);
  memory.text = text;
}

/** No question, no look: only what is remembered. */
async function writeAgain(store: ProofStore, { shown, text }: Memory, entry: string): Promise<void> {
  await store.write(`${text}${entry}\n`, shown);
}

/** How it went with each store: `accepted`, or the code of the error. */
async function withEach(
  write: (store: ProofStore, memory: Memory, entry: string) => Promise<void>,
  entry: string,
): Promise<Record<string, string>> {
  const outcomes = await Promise.all(
    [...remembered].map(async ([store, memory]) => {
      const outcome = await write(store, memory, entry).then(
        () => 'accepted',
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      );
      return [store.name, outcome] as const;
    }),
  );
  return Object.fromEntries(outcomes);
}

async function obey(command: WriterCommand): Promise<unknown> {
  switch (command.type) {
    case 'take':
      await take();
      return withEach(add, command.entry);
    case 'add':
      return withEach(add, command.entry);
    case 'write again':
      return withEach(writeAgain, command.entry);
    case 'release':
      await held?.release();
      return undefined;
    case 'read':
      return Object.fromEntries(await Promise.all(stores.map(async (store) => [store.name, await store.read()])));
  }
}

onParentMessage((command) => {
  const { type } = command as WriterCommand;
  obey(command as WriterCommand).then(
    (result) => sendToParent({ type: `done: ${type}`, result }),
    (error: unknown) => sendToParent({ type: `failed: ${type}`, error: String(error) }),
  );
});
await sendToParent({ type: 'ready' });
