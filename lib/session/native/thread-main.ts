import type * as threads from 'node:worker_threads';
import type { LoopWatch } from './loop-watch.js';
import type { Package, PackageClient } from './package-client.js';
import type { FromThread, NativeCall, NativeSession, ThreadData, ToThread } from './protocol.js';

interface Client {
  readonly zookeeper: PackageClient;
  state: 'handshaking' | 'up' | 'over';
  /** When the main thread last asked for something, as far as that counts. */
  heardAt: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The only code that loads the package, in a thread that runs nothing else. Its source text is the program of that
 * thread, so it refers to nothing outside of itself but what it is given: there is no file for the thread that a build,
 * a bundler or a test runner would have to find.
 *
 * @param load `require`
 */
export function threadMain(
  { parentPort, workerData }: Pick<typeof threads, 'parentPort' | 'workerData'>,
  load: (path: string) => unknown,
  watchLoop: (onSpinning: () => void) => LoopWatch,
): void {
  const port = parentPort!;
  const { packagePath, ended } = workerData as ThreadData;
  /**
   * The package tells nobody that a server refuses its handshake: it tries once more, and then pauses for a sixtieth of
   * the time-out, in which this look notices.
   */
  const LOOK_EVERY_MS = 5;
  const MAX_INT = 0x7fff_ffff;
  /** How long the package waits for the answer to the close of a session. */
  const CLOSE_WAITS_MS = 1_500;
  const LOST_BEFORE_CLOSE = 'the connection was lost before the session was closed';
  const CONNECTION_LOSS = -4;
  const SESSION_EXPIRED = -112;
  /** The states in which the package still tries, or has a connection: connecting, associating, connected. */
  const [CONNECTING, CONNECTED, READ_ONLY] = [1, 3, 5];
  /** An address of a block that is reserved: no server is there. */
  const NOWHERE = '240.0.0.1:1';

  const clients = new Map<number, Client>();
  let loaded: Package | Error | undefined;
  let outbox: FromThread[] = [];
  const loop = watchLoop(() =>
    tell({ type: 'spoiled', reason: 'its thread spun, as when a child process has inherited a socket of it' }),
  );

  // An exception that ended this thread would end the process: Node cannot close a thread in which the package still has
  // sockets.
  process.on('uncaughtException', (error) => tell({ type: 'spoiled', reason: `its thread failed: ${String(error)}` }));

  function tell(news: FromThread): void {
    loop.called();
    // What is told in one turn leaves together. It also means that nothing is done from within the package's callbacks:
    // a client that is opened or closed there brings the process down.
    if (outbox.length === 0) {
      setImmediate(() => {
        const letters = outbox;
        outbox = [];
        port.postMessage(letters);
      });
    }
    outbox.push(news);
  }

  function loadPackage(): Package | Error {
    try {
      const found = load(packagePath) as Package & { readonly default?: Package };
      return found.default ?? found;
    } catch (error) {
      return new Error(String(error));
    }
  }

  function open(number: number, connect: string, timeoutMs: number, session: NativeSession | undefined): void {
    const Zookeeper = (loaded ??= loadPackage());
    if (Zookeeper instanceof Error) return tell({ type: 'unusable', client: number, reason: Zookeeper.message });
    const config = {
      connect,
      timeout: timeoutMs,
      debug_level: 0,
      host_order_deterministic: false,
      // By default the package ends a session whose answer comes in more than ten segments.
      response_counter_limit: MAX_INT,
      ...(session === undefined ? {} : { client_id: session.id, client_password: session.password }),
    };
    const zookeeper = new Zookeeper(config);
    const client: Client = { zookeeper, state: 'handshaking', heardAt: performance.now(), timer: undefined };
    clients.set(number, client);
    zookeeper.on('connect', () => up(number, client));
    zookeeper.on('connecting', () => {
      // The package is about to connect again, by itself.
      zookeeper.native.set_servers(NOWHERE);
      over(number, client, 'the connection was lost');
    });
    zookeeper.on('close', (_client, code) => {
      if (code === SESSION_EXPIRED && client.state === 'handshaking') {
        tell({ type: 'expired', client: number });
        finish(number, client);
      } else over(number, client, `the client ended by itself (${code})`);
    });
    for (const event of ['created', 'deleted', 'changed'] as const) {
      zookeeper.on(event, (_client, path) => tell({ type: 'event', client: number, event, path: String(path) }));
    }
    zookeeper.on('child', (_client, path) =>
      tell({ type: 'event', client: number, event: 'children', path: String(path) }),
    );
    zookeeper.init({});
    client.timer = setInterval(() => {
      loop.timerFired();
      if (zookeeper.state < CONNECTING || zookeeper.state > READ_ONLY)
        over(number, client, 'the handshake was refused');
    }, LOOK_EVERY_MS);
  }

  function up(number: number, client: Client): void {
    if (client.state !== 'handshaking') return;
    const { client_id: id, client_password: password, timeout } = client.zookeeper;
    client.state = 'up';
    clearInterval(client.timer);
    tell({ type: 'up', client: number, session: { id, password }, timeoutMs: timeout });
    // The package pings by itself. Where the main thread hangs for good, its session must end nevertheless, or its locks
    // would never be free: an idle session asks for something each third of its time-out.
    const silenceMs = (timeout * 2) / 3;
    client.timer = setInterval(() => {
      if (performance.now() - client.heardAt > silenceMs) over(number, client, 'the main thread stood still');
      else if (!isConnected(client.zookeeper)) over(number, client, 'the client lost its connection without a word');
    }, timeout / 10);
  }

  function over(number: number, client: Client, reason: string): void {
    if (client.state === 'over') return;
    tell({ type: 'down', client: number, reason });
    finish(number, client);
  }

  /** Forgets a client, and lets go of its connection once no callback of it is under way. */
  function finish(number: number, client: Client): void {
    client.state = 'over';
    clearInterval(client.timer);
    clients.delete(number);
    setImmediate(() => letGo(client));
  }

  /** Ends a connection without ending its session. The package would end the session of a client that is connected. */
  function letGo({ zookeeper }: Client): void {
    if (isConnected(zookeeper)) zookeeper.native.set_servers(NOWHERE);
    // A session that still were connected would end at the server, while the main thread believes in it.
    if (!isConnected(zookeeper)) zookeeper.close();
  }

  function isConnected({ state }: PackageClient): boolean {
    return state === CONNECTED || state === READ_ONLY;
  }

  function call(number: number, { number: callNumber, method, args }: NativeCall): void {
    const answer = (rc: number, values: readonly unknown[]): void =>
      tell({ type: 'answer', client: number, number: callNumber, rc, values });
    const client = clients.get(number);
    if (client?.state !== 'up') return answer(CONNECTION_LOSS, []);
    client.heardAt = performance.now();
    // The package's own wrapper of these methods formats every argument for a log, which is off.
    const rc = client.zookeeper.native[method](...args, (code: number, _text: string, ...values: unknown[]) =>
      answer(code, values),
    );
    if (rc !== 0) answer(rc, []);
    if (isConnected(client.zookeeper)) return;
    // Where the socket refuses its bytes, the package closes it, tells nobody, and would send the rest of them over its
    // next connection. So that connection must not come: everything under way is of unknown outcome.
    over(number, client, 'the connection was lost while a request was sent');
    letGo(client);
  }

  function close(number: number): void {
    const client = clients.get(number);
    // How it ended was told.
    if (client === undefined) return;
    if (!isConnected(client.zookeeper)) return over(number, client, LOST_BEFORE_CLOSE);
    client.state = 'over';
    clearInterval(client.timer);
    clients.delete(number);
    const startedAt = performance.now();
    client.zookeeper.close();
    // The package says neither whether the request has left nor whether an answer has come, but it waits that long.
    if (performance.now() - startedAt < CLOSE_WAITS_MS) tell({ type: 'closed', client: number });
    else tell({ type: 'down', client: number, reason: 'the server did not answer when the session was closed' });
  }

  function end(): void {
    for (const client of clients.values()) {
      client.state = 'over';
      clearInterval(client.timer);
      letGo(client);
    }
    clients.clear();
    port.close();
    // Behind the connections that are still to be let go of.
    setImmediate(() => {
      const flag = new Int32Array(ended);
      Atomics.store(flag, 0, 1);
      Atomics.notify(flag, 0);
    });
  }

  function take(letter: ToThread): void {
    loop.called();
    switch (letter.type) {
      case 'open':
        return open(letter.client, letter.connect, letter.timeoutMs, letter.session);
      case 'call':
        return call(letter.client, letter.call);
      case 'flush':
        return tell({ type: 'flushed', client: letter.client, number: letter.number });
      case 'close':
        return close(letter.client);
      case 'abandon': {
        const client = clients.get(letter.client);
        return client === undefined ? undefined : finish(letter.client, client);
      }
      case 'end':
        return end();
    }
  }

  port.on('message', (letters: readonly ToThread[]) => {
    for (const letter of letters) {
      try {
        take(letter);
      } catch (error) {
        if ('client' in letter) tell({ type: 'down', client: letter.client, reason: String(error) });
      }
    }
  });
}
