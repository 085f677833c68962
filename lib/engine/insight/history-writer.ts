import type { LockEvent } from '../../lock/events.js';
import type { HistoryOptions } from '../../lock/past-hold.js';
import {
  decodeHistory,
  encodeHistory,
  historyPath,
  historyRoot,
  type KeptHistory,
  type KeptHold,
  withHolds,
} from '../../queue/hold-history.js';
import { wallNow } from '../../lock/clock.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { ancestry } from '../../session/paths.js';
import { create, get, set } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';

const WRITE_EVERY_MS = 1_000;
/** A node that was refused, or lost to others, so often in a row loses what was to be written. */
const MAX_TRIES = 3;
/** At most this many holds wait to be written, while the link is down or many keys are in use. */
const MAX_PENDING = 1_000;
const NONE: KeptHistory = { holds: [], dropped: 0 };

/** The holds that are to be written into one node. A mere count of dropped ones waits for the next hold. */
interface PendingNode {
  readonly holds: KeptHold[];
  dropped: number;
  readonly tries: number;
}

function hasHolds([, { holds }]: readonly [string, PendingNode]): boolean {
  return holds.length > 0;
}

export interface HistoryParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly timers: Timers;
  readonly machine: { readonly host: string; readonly pid: number };
  readonly namespace: string;
}

/**
 * Writes down the holds of this process that have ended. It listens to events, and no call waits for it: once a second at the most it
 * reads one node and writes it back with what was added. What cannot be written is dropped and counted.
 */
export class HistoryWriter {
  readonly #parts: HistoryParts;
  readonly #keep: number;
  readonly #overMs: number;
  /** By their paths, in the order in which they are written. */
  readonly #pending = new Map<string, PendingNode>();
  #count = 0;
  #timer: PendingTimer | undefined;

  constructor(parts: HistoryParts, { keep, overMs }: Required<HistoryOptions>) {
    this.#parts = parts;
    this.#keep = keep;
    this.#overMs = overMs;
  }

  onEvent(event: LockEvent): void {
    // Locks of this process alone have no token, and are nobody else's business.
    if ((event.type !== 'released' && event.type !== 'lost') || event.token === undefined) return;
    const { key, token, mode, label, waitedMs, heldMs } = event;
    if (heldMs < this.#overMs) return;
    const since = new Date(wallNow(this.#parts.session.clock) - heldMs);
    const ended = event.type === 'lost' ? event.reason : 'released';
    this.#add({ key, token, mode, label, ...this.#parts.machine, since, waitedMs, heldMs, ended });
  }

  /** Writes down some of what is left, before the session ends. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#parts.link.isUp) await this.#writeNext();
    this.#pending.clear();
  }

  #add(hold: KeptHold): void {
    const path = historyPath(this.#parts.namespace, hold.key);
    const node = this.#pending.get(path) ?? { holds: [], dropped: 0, tries: 0 };
    this.#pending.set(path, node);
    const ofKey = node.holds.filter(({ key }) => key === hold.key);
    if (ofKey.length >= this.#keep) node.holds.splice(node.holds.indexOf(ofKey[0]!), 1);
    else if (this.#count >= MAX_PENDING) {
      node.dropped += 1;
      return;
    } else this.#count += 1;
    node.holds.push(hold);
    this.#writeSoon();
  }

  #writeSoon(): void {
    const { timers, session } = this.#parts;
    this.#timer ??= timers.set(session.clock.now() + WRITE_EVERY_MS, () => {
      void this.#writeNext().finally(() => {
        this.#timer = undefined;
        if (!session.isClosing && [...this.#pending].some(hasHolds)) this.#writeSoon();
      });
    });
  }

  /** Writes one node. It never rejects. */
  async #writeNext(): Promise<void> {
    const next = [...this.#pending].find(hasHolds);
    if (next === undefined || !this.#parts.link.isUp) return;
    const [path, node] = next;
    this.#pending.delete(path);
    this.#count -= node.holds.length;
    const refused = await this.#write(path, { holds: [...node.holds], dropped: node.dropped });
    if (refused !== undefined) this.#putBack(path, node, refused);
  }

  /** @returns why it was not written, as far as is known */
  async #write(path: string, added: KeptHistory): Promise<SessionError | undefined> {
    const { session, namespace } = this.#parts;
    const [read] = await session.batch([get(path)]);
    if (read instanceof SessionError && !failedWith(read, 'NO_NODE')) return read;
    const known = read instanceof SessionError ? NONE : decodeHistory(read.data);
    const data = encodeHistory(withHolds(known, added, this.#keep));
    // Another process may have written since: then this one reads again, a second later.
    if (!(read instanceof SessionError)) {
      const [written] = await session.batch([set(path, data, read.stat.version)]);
      return written instanceof SessionError ? written : undefined;
    }
    // The servers may have removed the namespace meanwhile, as it stood empty.
    const parents = ancestry(namespace).map((parent) => create(parent, 'container'));
    const creates = [...parents, create(historyRoot(namespace), 'persistent'), create(path, 'persistent', data)];
    const made = (await session.batch(creates)).at(-1);
    return made instanceof SessionError ? made : undefined;
  }

  #putBack(path: string, node: PendingNode, refused: SessionError): void {
    const later = this.#pending.get(path);
    const isPassing =
      isAboutTheLink(refused) || failedWith(refused, 'BAD_VERSION') || failedWith(refused, 'NODE_EXISTS');
    const { holds } = node;
    const isKept = isPassing && node.tries + 1 < MAX_TRIES && this.#count + holds.length <= MAX_PENDING;
    if (isKept) this.#count += holds.length;
    this.#pending.set(path, {
      holds: [...(isKept ? holds : []), ...(later?.holds ?? [])],
      dropped: node.dropped + (later?.dropped ?? 0) + (isKept ? 0 : holds.length),
      tries: isKept ? node.tries + 1 : 0,
    });
  }
}
