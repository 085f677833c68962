import type { Handshake, LinkRequest } from '../../core/link.js';
import type { MultiResult, Reply, WatchEvent } from '../../requests.js';
import { authenticate, type Identity } from '../tree/acl.js';
import { AUTH_FAILED, OK, SESSION_MOVED } from '../tree/error-numbers.js';
import type { ChangeResult, Transaction } from '../tree/transaction.js';
import type { ToClient, ToServer, Write } from './messages.js';
import { answer, isRead, type ReadRequest } from './reads.js';
import { grantedTimeoutMs } from './settings.js';
import { passwordOf, samePassword } from './session-password.js';
import type { SimulatedServer } from './server.js';

/** A request in the order of its session. */
interface Queued {
  readonly xid: number;
  readonly request: LinkRequest | { readonly op: 'createSession' };
  /** The error with which the leader refused a read; 0 for any other request. */
  readonly errorNumber: number;
  /** True for a write before its commit and for a sync before the leader's answer. All requests behind it wait, too. */
  isWaiting: boolean;
  outcome?: { readonly transaction: Transaction; readonly results: readonly ChangeResult[] };
}

const HANDSHAKE_XID = 0;

/** A server's end of a client's connection. Requests are answered in the order in which they came. */
export class ClientConnection {
  sessionId = 0n;
  timeoutMs = 0;
  readonly identities: Identity[] = [];
  readonly #server: SimulatedServer;
  readonly #send: (message: ToClient) => void;
  #state: 'new' | 'attaching' | 'established' | 'closed' = 'new';
  readonly #queue: Queued[] = [];
  /** Requests that arrived before the session was established. */
  #early: Extract<ToServer, { kind: 'request' }>[] = [];

  constructor(
    server: SimulatedServer,
    readonly clientName: string,
    send: (message: ToClient) => void,
  ) {
    this.#server = server;
    this.#send = send;
  }

  receive(message: Exclude<ToServer, { kind: 'connect' }>): void {
    if (this.#state === 'closed') return;
    switch (message.kind) {
      // Like ZooKeeper's four-letter words: the server answers and hangs up.
      case 'ask':
        this.#server.forget(this);
        this.#state = 'closed';
        this.#send({ kind: 'service', serves: this.#server.role.isServing });
        return;
      case 'handshake':
        this.#onHandshake(message.handshake);
        return;
      case 'request':
        if (this.#state === 'established') this.#onRequest(message.xid, message.request);
        else this.#early.push(message);
        return;
      case 'closed':
        this.#state = 'closed';
        this.#server.forget(this);
    }
  }

  /** Hangs up from the server's side. */
  close(cause: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#server.forget(this);
    this.#send({ kind: 'closed', cause });
  }

  notify(event: WatchEvent): void {
    if (this.#state === 'closed') return;
    this.#server.traffic.told(this.sessionId);
    this.#send({ kind: 'event', event });
  }

  /** The leader has answered whether it knows this session. */
  onRevalidated(valid: boolean): void {
    if (this.#state !== 'attaching') return;
    if (!valid) {
      this.#send({ kind: 'handshake', reply: { timeoutMs: 0, sessionId: 0n, password: new Uint8Array(16) } });
      this.close('the session has expired');
      return;
    }
    this.#state = 'established';
    const { sessionId, timeoutMs } = this;
    this.#send({ kind: 'handshake', reply: { timeoutMs, sessionId, password: passwordOf(sessionId) } });
    // The requests behind the handshake were sent before its answer; now they take their turn.
    const early = this.#early;
    this.#early = [];
    for (const { xid, request } of early) this.#onRequest(xid, request);
  }

  #onHandshake(handshake: Handshake): void {
    const server = this.#server;
    if (!server.role.isServing) {
      this.close('this server has no leader and serves nobody');
      return;
    }
    // Serving this client would take back what it has seen.
    if (handshake.lastZxid > server.tree.lastZxid) {
      this.close('the client has seen a later state than this server');
      return;
    }
    this.#state = 'attaching';
    this.timeoutMs = grantedTimeoutMs(handshake.timeoutMs, server.settings.tickMs, server.maxSessionTimeoutMs);
    if (handshake.sessionId === 0n) {
      this.sessionId = server.newSessionId();
      this.#write(HANDSHAKE_XID, { op: 'createSession' }, { op: 'createSession', timeoutMs: this.timeoutMs });
      return;
    }
    this.sessionId = handshake.sessionId;
    // A session has one connection: the old one closes as soon as the client comes back on another.
    server.closeConnectionsOf(this.sessionId, 'the client has come back on another connection', this);
    if (!samePassword(handshake.password, passwordOf(this.sessionId))) {
      // A wrong password is answered like an expired session, as in ZooKeeper.
      this.onRevalidated(false);
      return;
    }
    server.role.revalidate(server.awaitRevalidation(this), this.sessionId, this.timeoutMs);
  }

  #onRequest(xid: number, request: LinkRequest): void {
    const server = this.#server;
    if (this.#state === 'closed') return;
    server.traffic.count(request.op);
    server.role.touch(this.sessionId, this.timeoutMs);
    if (request.op === 'auth') {
      this.#authenticate(xid, request.scheme, request.credential);
      return;
    }
    if (isRead(request)) {
      this.#read(xid, request);
      return;
    }
    switch (request.op) {
      case 'create':
      case 'delete':
      case 'set':
        this.#write(xid, request, { op: 'single', part: request });
        return;
      case 'multi':
        this.#write(xid, request, { op: 'multi', parts: request.parts });
        return;
      case 'closeSession':
        this.#write(xid, request, { op: 'closeSession' });
    }
  }

  #authenticate(xid: number, scheme: string, credential: Uint8Array): void {
    // Credentials are answered outside the order of requests, as in ZooKeeper.
    const identity = authenticate(scheme, credential);
    if (identity !== undefined) this.identities.push(identity);
    const errorNumber = identity === undefined ? AUTH_FAILED : OK;
    this.#send({ kind: 'reply', xid, op: 'auth', zxid: 0n, errorNumber, reply: undefined });
    if (identity === undefined) this.close('authentication failed');
  }

  #read(xid: number, request: ReadRequest): void {
    const server = this.#server;
    // A follower asks its leader before it answers a sync; a leader has committed everything that it could wait for.
    const isWaiting = request.op === 'sync' && server.role.name === 'following';
    const queued: Queued = { xid, request, errorNumber: server.role.check(this.sessionId), isWaiting };
    this.#queue.push(queued);
    if (isWaiting) {
      const requestId = server.await(() => {
        queued.isWaiting = false;
        this.#answerWhatIsReady();
      });
      server.role.sync(requestId);
    } else {
      this.#answerWhatIsReady();
    }
  }

  #write(xid: number, request: Queued['request'], write: Write): void {
    const queued: Queued = { xid, request, errorNumber: OK, isWaiting: true };
    this.#queue.push(queued);
    const requestId = this.#server.await((transaction, results) => {
      if (transaction !== undefined) queued.outcome = { transaction, results };
      queued.isWaiting = false;
      this.#answerWhatIsReady();
    });
    const origin = { serverId: this.#server.id, requestId };
    this.#server.role.submit({ origin, sessionId: this.sessionId, identities: [...this.identities], write });
  }

  #answerWhatIsReady(): void {
    for (let next = this.#queue[0]; next !== undefined && !next.isWaiting; next = this.#queue[0]) {
      this.#queue.shift();
      if (this.#state !== 'closed') this.#answer(next);
    }
  }

  #answer(queued: Queued): void {
    const { request } = queued;
    const errorNumber = queued.outcome?.transaction.errorNumber ?? queued.errorNumber;
    // The client offered the session to another server meanwhile, and the requests of this connection are no longer its
    // own.
    if (errorNumber === SESSION_MOVED) {
      this.close('the session has moved to another server');
    } else if (request.op === 'createSession') {
      this.onRevalidated(true);
    } else if (errorNumber !== OK) {
      this.#reply(queued, request.op, errorNumber, undefined);
    } else if (isRead(request)) {
      const answered = answer(this.#server, this, request);
      this.#reply(queued, request.op, answered.errorNumber, answered.reply);
    } else {
      this.#reply(queued, request.op, OK, replyOf(request.op, queued.outcome?.results ?? []));
      if (request.op === 'closeSession') this.close('the session was closed');
    }
  }

  #reply(queued: Queued, op: LinkRequest['op'], errorNumber: number, reply: Reply): void {
    const partErrors = queued.outcome?.transaction.partErrors;
    const zxid = this.#server.tree.lastZxid;
    this.#send({ kind: 'reply', xid: queued.xid, op, zxid, errorNumber, reply, partErrors });
  }
}

function replyOf(op: LinkRequest['op'], results: readonly ChangeResult[]): Reply {
  if (op === 'multi') return results as readonly MultiResult[];
  const result = results[0];
  switch (result?.op) {
    case 'create':
      return { path: result.path, stat: result.stat };
    case 'set':
      return result.stat;
    case 'delete':
    case 'check':
    case undefined:
      return undefined;
  }
}
