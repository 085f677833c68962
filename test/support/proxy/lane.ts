import { performance } from 'node:perf_hooks';
import type { Socket } from 'node:net';
import type { Conditions } from './conditions.js';
import type { Gate } from './gate.js';

/** Something to deliver, never torn apart by a fault: a frame, a packet, or a chunk where nothing is known of its inside. */
export interface Unit {
  bytes: Buffer;
  /** Waits for it, and lets nothing of the same stream behind it pass. */
  gate?: Gate;
  /** Units of one stream keep their order; those of another may overtake them at a gate. @default 'main' */
  stream?: 'main' | 'pings';
  /** Cut the connection once this is delivered. */
  thenCut?: boolean;
}

interface QueuedUnit extends Unit {
  dueAt: number;
}

export interface LaneEvents {
  /** Something is to be delivered and there is no socket yet: `attach` one. */
  wanted(): void;
  /** Bytes went out. */
  delivered(byteCount: number): void;
  /** A unit with `thenCut` was delivered, or the source has ended before a socket was asked for. */
  cut(): void;
}

/** One direction of one connection: units leave in order, under the conditions of the moment. */
export class Lane {
  private readonly queue: QueuedUnit[] = [];
  private out: Socket | undefined;
  private timer: NodeJS.Timeout | undefined;
  private dribbling = false;
  private ended = false;
  private asked = false;
  private stopped = false;
  /** Bytes were lost: this stream can never go on. */
  hasGap = false;

  constructor(
    private readonly conditions: Readonly<Conditions>,
    private readonly events: LaneEvents,
  ) {}

  /** Where the units go; until this is known they wait. */
  attach(out: Socket): void {
    this.out = out;
    this.pump();
  }

  push(unit: Unit): void {
    const { delayMs, coalesceMs } = this.conditions;
    const now = performance.now();
    const batchEnd = this.queue.at(-1)?.dueAt ?? 0;
    const dueAt = coalesceMs > 0 ? Math.max(batchEnd, now + (batchEnd > now ? 0 : coalesceMs)) : now + delayMs;
    this.queue.push({ ...unit, dueAt: Math.max(dueAt, batchEnd) });
    unit.gate?.whenOpened(() => this.pump());
    this.pump();
  }

  /** The source has no more; told to the other side after the last unit. */
  end(): void {
    this.ended = true;
    this.pump();
  }

  /** Conditions have changed, or a gate has opened. */
  pump(): void {
    clearTimeout(this.timer);
    if (this.stopped || this.dribbling) return;
    if (this.conditions.flow === 'swallow') this.lose();
    if (this.conditions.flow !== 'pass') return;
    if (this.out === undefined) this.askForSocket();
    else this.send(this.out);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.queue.length = 0;
  }

  private askForSocket(): void {
    if (this.asked) return;
    // Came and went while nothing could pass: where the network does that, no such connection comes to be.
    if (this.ended) this.events.cut();
    else if (this.queue.length > 0) {
      this.asked = true;
      this.events.wanted();
    }
  }

  private send(out: Socket): void {
    const ready = this.takeReady();
    if (ready.length > 0) this.deliver(ready, out);
    else if (this.queue.length === 0 && this.ended) out.end();
  }

  private lose(): void {
    if (this.queue.length > 0) this.hasGap = true;
    this.queue.length = 0;
  }

  private takeReady(): Unit[] {
    const ready: Unit[] = [];
    const blocked = new Set<string>();
    for (const unit of [...this.queue]) {
      const stream = unit.stream ?? 'main';
      if (unit.gate?.isOpen === false) blocked.add(stream);
      if (blocked.has(stream)) continue;
      const earlyMs = this.isSlow() ? unit.dueAt - performance.now() : 0;
      if (earlyMs > 0) {
        this.timer = setTimeout(() => this.pump(), Math.ceil(earlyMs)).unref();
        break;
      }
      this.queue.splice(this.queue.indexOf(unit), 1);
      ready.push(unit);
      if (unit.thenCut === true) break;
    }
    return ready;
  }

  /** When the link is quick again, what was delayed before is due too. */
  private isSlow(): boolean {
    return this.conditions.delayMs > 0 || this.conditions.coalesceMs > 0;
  }

  private deliver(ready: Unit[], out: Socket): void {
    const bytes =
      ready.length === 1 && ready[0] !== undefined ? ready[0].bytes : Buffer.concat(ready.map((u) => u.bytes));
    const thenCut = ready.at(-1)?.thenCut === true;
    if (this.conditions.dribble) this.dribble(bytes, out, thenCut);
    else {
      if (bytes.length > 0) out.write(bytes);
      this.afterDelivery(bytes.length, thenCut);
    }
  }

  private dribble(bytes: Buffer, out: Socket, thenCut: boolean): void {
    this.dribbling = true;
    const next = (offset: number): void => {
      if (this.stopped) return;
      if (offset < bytes.length) {
        out.write(bytes.subarray(offset, offset + 1), () => afterOnePoll(() => next(offset + 1)));
        return;
      }
      this.dribbling = false;
      this.afterDelivery(bytes.length, thenCut);
    };
    next(0);
  }

  private afterDelivery(byteCount: number, thenCut: boolean): void {
    this.events.delivered(byteCount);
    if (thenCut) this.events.cut();
    else this.pump();
  }
}

/** The loop has looked at all sockets once more: whoever reads in this process has seen the last byte alone. */
function afterOnePoll(next: () => void): void {
  setImmediate(() => setImmediate(next));
}
