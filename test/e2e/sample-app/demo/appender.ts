import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Instance } from './instance.js';

export interface Acknowledged {
  readonly line: string;
  readonly fencingToken: bigint;
  /** By which process. */
  readonly pid: number;
  readonly atMs: number;
}

/** What the load sent, and what it was told. */
export class AppendLog {
  readonly sent = new Set<string>();
  readonly acknowledged: Acknowledged[] = [];
  /** Lines whose request broke off: they may be in the file, or not. */
  readonly unanswered: string[] = [];
  /** Answers that were neither success nor silence. */
  readonly refused: string[] = [];

  firstAfter(atMs: number): Acknowledged | undefined {
    return this.acknowledged.find((one) => one.atMs > atMs);
  }
}

/** Appends line after line through one instance, and through another when that one is gone. */
export async function append(
  name: string,
  fleet: readonly Instance[],
  startAt: number,
  log: AppendLog,
  stop: AbortSignal,
): Promise<void> {
  let at = startAt;
  for (let count = 1; !stop.aborted; count += 1) {
    while (fleet[at % fleet.length]?.isRunning === false) at += 1;
    const instance = fleet[at % fleet.length]!;
    // Of many lengths, so that half a line cannot be taken for a whole one.
    const line = `${name} line ${count} ${randomBytes(8 + (count % 57)).toString('hex')} end`;
    log.sent.add(line);
    try {
      const response = await fetch(`${instance.url}/files/journal/append`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: line,
      });
      if (!response.ok) {
        log.refused.push(`${response.status} ${await response.text()}`);
        continue;
      }
      const { fencingToken, pid } = (await response.json()) as { fencingToken: string; pid: number };
      log.acknowledged.push({ line, fencingToken: BigInt(fencingToken), pid, atMs: performance.now() });
    } catch {
      log.unanswered.push(line);
      at += 1;
    }
  }
}
