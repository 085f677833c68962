import { SessionError } from '../errors.js';
import type { Reply, Request, Watcher } from '../requests.js';
import type { LinkRequest, RemovableWatch } from './link.js';

const MAX_XID = 0x7fff_ffff;

/**
 * Request numbers stay in the positive half of 32 bits, because servers give a meaning to some of the negative ones.
 */
export function nextXid(xid: number): number {
  // Zero is left out: the numbering starts again at 1.
  return xid === MAX_XID ? 1 : xid + 1;
}

/** One request on its way. It knows how to tell its caller what came of it. */
export abstract class Call {
  xid = 0;
  sentAt = 0;
  /** How many answers the connection had brought when this request was sent. */
  sentAfter = 0;
  /** The number of this request's answer on its connection, counted from 1. */
  answer = 0;
  /** The watcher was taken back before the answer came. */
  unwatched = false;
  /** A request that removes the watch was sent behind this one, so nothing is left to do when the answer comes. */
  isRemovedBehind = false;

  constructor(readonly request: LinkRequest) {}

  abstract settle(outcome: Reply | SessionError): void;

  get path(): string | undefined {
    return 'path' in this.request ? this.request.path : undefined;
  }

  get watcher(): Watcher | undefined {
    return 'watch' in this.request ? this.request.watch : undefined;
  }

  /** The table in which the server keeps the watch that this call asks for. */
  get watchTable(): RemovableWatch | undefined {
    switch (this.request.op) {
      case 'get':
      case 'exists':
        return 'data';
      case 'list':
        return 'children';
      default:
        return undefined;
    }
  }
}

/** A request with a promise of its own. */
export class SingleCall extends Call {
  #resolve!: (reply: Reply) => void;
  #reject!: (error: SessionError) => void;
  readonly promise = new Promise<Reply>((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  settle(outcome: Reply | SessionError): void {
    if (outcome instanceof SessionError) this.#reject(outcome);
    else this.#resolve(outcome);
  }
}

/** Requests that share one promise of all their outcomes. */
export class Batch {
  #resolve!: (outcomes: (Reply | SessionError)[]) => void;
  readonly promise = new Promise<(Reply | SessionError)[]>((resolve) => {
    this.#resolve = resolve;
  });
  readonly calls: readonly Call[];
  readonly #outcomes: (Reply | SessionError)[];
  #open: number;

  constructor(requests: readonly Request[]) {
    this.#open = requests.length;
    this.#outcomes = new Array<Reply | SessionError>(requests.length);
    this.calls = requests.map((request, index) => new BatchCall(request, this, index));
    if (this.#open === 0) this.#resolve(this.#outcomes);
  }

  settle(index: number, outcome: Reply | SessionError): void {
    this.#outcomes[index] = outcome;
    this.#open -= 1;
    if (this.#open === 0) this.#resolve(this.#outcomes);
  }
}

class BatchCall extends Call {
  readonly #batch: Batch;
  readonly #index: number;

  constructor(request: Request, batch: Batch, index: number) {
    super(request);
    this.#batch = batch;
    this.#index = index;
  }

  settle(outcome: Reply | SessionError): void {
    this.#batch.settle(this.#index, outcome);
  }
}

/** A request whose outcome nobody waits for: when it fails, there is nothing left to do. */
export class SilentCall extends Call {
  settle(): void {
    // The caller asked not to be told.
  }
}
