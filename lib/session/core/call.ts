import { SessionError } from '../errors.js';
import type { Reply, Request, Watcher } from '../requests.js';
import type { LinkRequest, RemovableWatch } from './link.js';

const MAX_XID = 0x7fff_ffff;

/** Numbers of requests go round in the positive half of 32 bits; the negative ones mean something to servers. */
export function nextXid(xid: number): number {
  return xid === MAX_XID ? 1 : xid + 1;
}

/** One request on its way; knows how to tell its caller. */
export abstract class Call {
  xid = 0;
  sentAt = 0;
  /** How many answers the connection had brought when it was sent. */
  sentAfter = 0;
  /** Which answer of the connection it got, counted from 1. */
  answer = 0;
  /** The watcher asked for changed its mind before the answer came. */
  unwatched = false;

  constructor(readonly request: LinkRequest) {}

  abstract settle(outcome: Reply | SessionError): void;

  get path(): string | undefined {
    return 'path' in this.request ? this.request.path : undefined;
  }

  get watcher(): Watcher | undefined {
    return 'watch' in this.request ? this.request.watch : undefined;
  }

  /** Where the server keeps the watch this call asks for. */
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

/** A request nobody waits for: its failure means that there is nothing left to do. */
export class SilentCall extends Call {
  settle(): void {
    // The caller asked not to know.
  }
}
