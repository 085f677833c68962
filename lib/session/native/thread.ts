import { clearTimeout, setTimeout } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { judgeLoop, watchLoop } from './loop-watch.js';
import { unusable } from './package.js';
import type { FromThread, NativeCall, NativeSession, ThreadData, ToThread } from './protocol.js';
import { threadMain } from './thread-main.js';

/** How long an idle thread stays for the next client. Reconnects come sooner. */
const STAYS_MS = 1_000;
/** How long the end of the process waits for the thread. A server that hangs in a close takes up to 4.5 s. */
const ENDS_WITHIN_MS = 5_000;

/** Hears what becomes of one client of the package. */
export interface ThreadClientListener {
  onUp(session: NativeSession, timeoutMs: number): void;
  onAnswer(number: number, rc: number, values: readonly unknown[]): void;
  onEvent(type: (FromThread & { type: 'event' })['event'], path: string): void;
  onExpired(): void;
  /** The session was closed, as it was asked. */
  onSessionClosed(): void;
  onDown(cause: Error): void;
}

/** The end of the thread that ran last in this process. */
const LAST = Symbol.for('nestjs-zookeeper-lock.native-thread');
/**
 * Two threads that use the package at once bring the process down, so there is one per process. Copies of this module
 * (an application's, one of each test file) know of each other by what they all have in common: Node's own class.
 */
const shared = Worker as typeof Worker & { [LAST]?: Promise<void> };

let current: Thread | undefined;
let clients = 0;

/** One client of the package, in the thread that all of them share. */
export class ThreadClient {
  readonly #thread: Thread;
  readonly #number = (clients += 1);
  readonly #flushes = new Map<number, () => void>();
  #lastFlush = 0;
  #hasUnflushed = false;

  constructor(
    packagePath: string,
    readonly listener: ThreadClientListener,
  ) {
    current ??= new Thread(packagePath);
    this.#thread = current;
    this.#thread.join(this.#number, this);
  }

  /** @param connect one server, by its IP address */
  open(connect: string, timeoutMs: number, session: NativeSession | undefined): void {
    this.#thread.send({ type: 'open', client: this.#number, connect, timeoutMs, session });
  }

  call(call: NativeCall): void {
    this.#hasUnflushed = true;
    this.#thread.send({ type: 'call', client: this.#number, call });
  }

  closeSession(): void {
    this.#thread.send({ type: 'close', client: this.#number });
  }

  /** @returns a promise that resolves when all calls so far have been made, or never will be */
  flush(): Promise<void> | undefined {
    if (!this.#hasUnflushed) return undefined;
    this.#hasUnflushed = false;
    const number = (this.#lastFlush += 1);
    const flushed = new Promise<void>((resolve) => this.#flushes.set(number, resolve));
    this.#thread.send({ type: 'flush', client: this.#number, number });
    this.#thread.post();
    return flushed;
  }

  onFlushed(number: number): void {
    this.#flushes.get(number)?.();
    this.#flushes.delete(number);
  }

  /** The connection ends, and the session lives on. The listener hears nothing more. */
  leave(): void {
    for (const resolve of this.#flushes.values()) resolve();
    this.#flushes.clear();
    this.#thread.send({ type: 'abandon', client: this.#number });
    this.#thread.leave(this.#number);
  }
}

/** The thread, from its first client to the end of its last. */
class Thread {
  readonly #packagePath: string;
  readonly #clients = new Map<number, ThreadClient>();
  readonly #ended = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  readonly #exited: Promise<void>;
  #markExited!: () => void;
  #outbox: ToThread[] = [];
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #onProcessExit = (): void => this.#endWithProcess();

  constructor(packagePath: string) {
    this.#packagePath = packagePath;
    this.#exited = new Promise((resolve) => (this.#markExited = resolve));
    const before = shared[LAST] ?? Promise.resolve();
    shared[LAST] = this.#exited;
    before.then(() => this.#start()).catch((error: unknown) => this.#onExit(error));
  }

  join(number: number, client: ThreadClient): void {
    clearTimeout(this.#idle);
    this.#clients.set(number, client);
    this.#worker?.ref();
  }

  leave(number: number): void {
    if (!this.#clients.delete(number) || this.#clients.size > 0) return;
    this.#worker?.unref();
    this.#idle = setTimeout(() => this.#end(), STAYS_MS);
    this.#idle.unref();
  }

  send(letter: ToThread): void {
    if (this.#outbox.length === 0) queueMicrotask(() => this.post());
    this.#outbox.push(letter);
  }

  post(): void {
    if (this.#worker === undefined || this.#outbox.length === 0) return;
    this.#worker.postMessage(this.#outbox);
    this.#outbox = [];
  }

  #start(): void {
    const workerData: ThreadData = { packagePath: this.#packagePath, ended: this.#ended };
    const watch = `(onSpinning) => (${watchLoop.toString()})(${judgeLoop.toString()}, onSpinning)`;
    const program = `(${threadMain.toString()})(require('node:worker_threads'), require, ${watch})`;
    // Flags of this process, such as loaders, are not for that thread.
    const worker = new Worker(program, { eval: true, workerData, execArgv: [], name: 'zookeeper' });
    this.#worker = worker;
    worker.on('message', (letters: readonly FromThread[]) => letters.forEach((letter) => this.#take(letter)));
    worker.on('error', (error) => this.#fail(error));
    worker.once('exit', () => this.#onExit(new Error('the thread of the native client ended')));
    process.on('exit', this.#onProcessExit);
    if (this.#clients.size === 0) worker.unref();
    this.post();
  }

  #take(letter: FromThread): void {
    if (letter.type === 'spoiled') this.#spoiled(letter.reason);
    else this.#takeFor(this.#clients.get(letter.client), letter);
  }

  #takeFor(client: ThreadClient | undefined, letter: Exclude<FromThread, { type: 'spoiled' }>): void {
    if (client === undefined) return;
    const { listener } = client;
    switch (letter.type) {
      case 'unusable':
        return listener.onDown(unusable(`it cannot be loaded: ${letter.reason}`));
      case 'up':
        return listener.onUp(letter.session, letter.timeoutMs);
      case 'answer':
        return listener.onAnswer(letter.number, letter.rc, letter.values);
      case 'event':
        return listener.onEvent(letter.event, letter.path);
      case 'flushed':
        return client.onFlushed(letter.number);
      case 'expired':
        return listener.onExpired();
      case 'closed':
        return listener.onSessionClosed();
      case 'down':
        return listener.onDown(new Error(letter.reason));
    }
  }

  #fail(cause: Error): void {
    for (const { listener } of [...this.#clients.values()]) listener.onDown(cause);
  }

  #spoiled(reason: string): void {
    this.#end();
    this.#fail(new Error(`${reason}. It begins anew`));
  }

  /** Ends the thread. A client that comes now gets another one, which begins when this one has ended. */
  #end(): void {
    if (current === this) current = undefined;
    this.send({ type: 'end' });
  }

  #onExit(cause: unknown): void {
    process.off('exit', this.#onProcessExit);
    clearTimeout(this.#idle);
    if (current === this) current = undefined;
    this.#worker = undefined;
    this.#fail(cause instanceof Error ? cause : new Error(String(cause)));
    this.#markExited();
  }

  /** A process that ended while the package has sockets in the thread would end with an abort. */
  #endWithProcess(): void {
    this.#outbox.push({ type: 'end' });
    this.post();
    Atomics.wait(new Int32Array(this.#ended), 0, 0, ENDS_WITHIN_MS);
  }
}
