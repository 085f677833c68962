import type { HistoryOptions, HoldEnd } from '../../lock/past-hold.js';
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
import type { Hold } from '../hold/hold.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';

const WRITE_EVERY_MS = 1_000;
/** A node that was refused, or lost to others, so often in a row loses what was to be written. */
const MAX_TRIES = 3;
/** At most this many holds wait to be written, while the link is down or many keys are in use. */
const MAX_PENDING = 1_000;
const MAX_FRESH = 64;
const NONE: KeptHistory = { holds: [], dropped: 0 };

/** The holds that are to be written into one node. A mere count of dropped ones waits for the next hold. */
interface PendingNode {
  readonly holds: KeptHold[];
  dropped: number;
  readonly tries: number;
}

/** A hold that has ended, with what may not be asked of it later. */
interface EndedHold extends Pick<Hold, 'request' | 'token' | 'mode' | 'waitedMs'> {
  readonly heldMs: number;
  readonly endedAt: number;
  readonly ended: HoldEnd;
}

function endOf({ since, heldMs }: KeptHold): number {
  return since.getTime() + heldMs;
}

export interface HistoryParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly timers: Timers;
  readonly machine: { readonly host: string; readonly pid: number };
  readonly namespace: string;
}

/**
 * Writes down the holds of this process that have ended. No call waits for it: once a second at the most it
 * reads one node and writes it back with what was added. What cannot be written is dropped and counted.
 */
export class HistoryWriter {
  readonly #parts: HistoryParts;
  readonly #keep: number;
  readonly #overMs: number;
  /** By their paths, in the order in which they are written. */
  readonly #pending = new Map<string, PendingNode>();
  #count = 0;
  /** The holds that have ended since the last look, as they are: to sort them in one go takes less time. */
  readonly #fresh: EndedHold[] = [];
  #timer: PendingTimer | undefined;

  constructor(parts: HistoryParts, { keep, overMs }: Required<HistoryOptions>) {
    this.#parts = parts;
    this.#keep = keep;
    this.#overMs = overMs;
  }

  ended({ request, token, mode, waitedMs, lossReason }: Hold, heldMs: number): void {
    if (heldMs < this.#overMs) return;
    const endedAt = wallNow(this.#parts.session.clock);
    this.#fresh.push({ request, token, mode, waitedMs, heldMs, endedAt, ended: lossReason ?? 'released' });
    if (this.#fresh.length >= MAX_FRESH) this.#sort();
    this.#writeSoon();
  }

  /** Writes down some of what is left, before the session ends. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#parts.link.isUp) await this.#writeNext();
    this.#pending.clear();
  }

  #hasSome(): boolean {
    return this.#fresh.length > 0 || this.#next() !== undefined;
  }

  #sort(): void {
    const { host, pid } = this.#parts.machine;
    for (const { request, token, mode, waitedMs, heldMs, endedAt, ended } of this.#fresh.splice(0)) {
      const { key, options } = request;
      const since = new Date(endedAt - heldMs);
      const rounded = Math.round(heldMs);
      this.#add({ key, token, mode, label: options.label, host, pid, since, waitedMs, heldMs: rounded, ended });
    }
  }

  #add(hold: KeptHold): void {
    const path = historyPath(this.#parts.namespace, hold.key);
    const node = this.#pending.get(path) ?? { holds: [], dropped: 0, tries: 0 };
    this.#pending.set(path, node);
    const ofKey = node.holds.filter(({ key }) => key === hold.key);
    if (ofKey.length >= this.#keep) node.holds.splice(node.holds.indexOf(ofKey[0]!), 1);
    else if (this.#count >= MAX_PENDING) this.#dropOldest();
    else this.#count += 1;
    node.holds.push(hold);
  }

  /** The last holds of a key are asked for, so the hold that ended first makes room. */
  #dropOldest(): void {
    let oldest: PendingNode | undefined;
    for (const node of this.#pending.values()) {
      // Those of one node are in the order in which they ended.
      if (node.holds.length > 0 && (oldest === undefined || endOf(node.holds[0]!) < endOf(oldest.holds[0]!)))
        oldest = node;
    }
    oldest!.holds.shift();
    oldest!.dropped += 1;
  }

  /** The node whose turn to be written comes next. */
  #next(): readonly [string, PendingNode] | undefined {
    for (const one of this.#pending) if (one[1].holds.length > 0) return one;
    return undefined;
  }

  #writeSoon(): void {
    const { timers, session } = this.#parts;
    this.#timer ??= timers.set(session.clock.now() + WRITE_EVERY_MS, () => {
      void this.#writeNext().finally(() => {
        this.#timer = undefined;
        if (!session.isClosing && this.#hasSome()) this.#writeSoon();
      });
    });
  }

  /** Writes one node. It never rejects. */
  async #writeNext(): Promise<void> {
    this.#sort();
    const next = this.#next();
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
