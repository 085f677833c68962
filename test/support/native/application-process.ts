import { createRequire } from 'node:module';
import { connect as connectTo, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { createLockService } from '../../../lib/index.js';
import { onParentMessage, sendToParent } from '../process/parent.js';

/**
 * An application with a lock over the package, and with connections of its own: each answers with what it is sent. The
 * package runs in a thread (`native`), or, to show why, in the application's own (`in the main thread`).
 */
const [how = '', connect = '', echoPort = ''] = process.argv.slice(2);
const SESSION_TIMEOUT_MS = 4_000;
const OPEN_EVERY_MS = 1;
const ANSWERS_WITHIN_MS = 1_500;
const CONNECTED = 3;
/** How many connections an application opens that happens to need some in that moment. */
const AT_ONCE = 5;

interface PackageClient {
  readonly state: number;
  init(config: object): void;
  once(event: string, listener: () => void): void;
}

/** Whether the package has just given its connection up; nobody outside of its thread knows. */
let hasGivenUp = (): boolean => false;

if (how === 'native') {
  const options = { connect, client: 'native', sessionTimeoutMs: SESSION_TIMEOUT_MS, serverTickMs: 500 } as const;
  const locks = await createLockService(options);
  await locks.acquire(`/locks/held-${process.pid}`);
} else {
  const Package = createRequire(import.meta.url)('zookeeper') as new (config: object) => PackageClient;
  const client = new Package({ connect, timeout: SESSION_TIMEOUT_MS, debug_level: 0, host_order_deterministic: false });
  await new Promise<void>((resolve) => {
    client.once('connect', resolve);
    client.init({});
  });
  hasGivenUp = () => client.state !== CONNECTED;
}

const sockets: Socket[] = [];

function open(): void {
  const socket = connectTo(Number(echoPort), '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  void echo(socket);
}

function echo(socket: Socket): Promise<boolean> {
  const answered = new Promise<boolean>((resolve) => socket.once('data', () => resolve(true)));
  socket.write('hello');
  return Promise.race([answered, pause(ANSWERS_WITHIN_MS, false)]);
}

async function openFor(durationMs: number): Promise<void> {
  const endsAt = performance.now() + durationMs;
  const isUnlucky = (async () => {
    while (how !== 'native' && !hasGivenUp()) await nextTurn();
    for (let count = 0; count < AT_ONCE; count += 1) open();
  })();
  while (performance.now() < endsAt) {
    open();
    await pause(OPEN_EVERY_MS);
  }
  await isUnlucky;
}

onParentMessage((message) => {
  const { type, durationMs, code } = message as { type: string; durationMs: number; code: number };
  if (type === 'open') void openFor(durationMs).then(() => sendToParent({ type: 'opened', count: sockets.length }));
  if (type === 'ask') {
    void Promise.all(sockets.map(echo)).then((answers) =>
      sendToParent({ type: 'asked', deaf: answers.filter((answered) => !answered).length }),
    );
  }
  if (type === 'exit') process.exit(code);
  if (type === 'throw') throw new Error('An application ends in many ways.');
  if (type === 'hang') for (;;);
});
await sendToParent({ type: 'ready' });
