import { Subject } from 'rxjs';
import { type AsJson, type JsonOf, withJson } from '../../lock/json.js';
import { visible } from '../../lock/visible.js';
import type { BreakOutcome } from './break-lock.js';

/** The doctor writes its audit lines to this, two for each step that it takes. Nest's `Logger` fits. */
export interface DoctorLogger {
  log(message: string): unknown;
  warn(message: string): unknown;
}

interface OfStep {
  readonly key: string;
  readonly by: string;
  readonly reason: string;
  /** When it was done, by the wall clock of this process. */
  readonly at: Date;
}

export type DoctorEventFacts =
  | (OfStep & { readonly type: 'broken'; readonly token: bigint; readonly outcome: BreakOutcome })
  | (OfStep & { readonly type: 'cleared'; readonly token: bigint })
  /** `removed`: how many waits were ended. */
  | (OfStep & { readonly type: 'drained'; readonly removed: number });

/** An event in JSON: the token as digits, the date as ISO text. */
export type DoctorEventJson = JsonOf<DoctorEventFacts>;

/** Tells what a doctor has done, once it is done. `JSON.stringify` accepts it. */
export type DoctorEvent = DoctorEventFacts & AsJson<DoctorEventJson>;

/** Takes down what a doctor does: a line before, a line after, and an event where it was done. */
export class Audit {
  readonly events$ = new Subject<DoctorEvent>();

  constructor(private readonly logger: DoctorLogger | undefined) {}

  /** @param step what is done, as the line before it says it */
  async of<T>(
    step: string,
    { by, reason }: { readonly by: string; readonly reason: string },
    act: () => Promise<T>,
    describe: (result: T) => { readonly line: string; readonly event: DoctorEventFacts },
  ): Promise<T> {
    this.logger?.log(visible(`${step}: begun by ${by} (${reason})`));
    try {
      const result = await act();
      const { line, event } = describe(result);
      this.logger?.log(visible(`${step}: ${line}`));
      this.events$.next(withJson(event));
      return result;
    } catch (error) {
      const { details } = error as { readonly details?: string };
      this.logger?.warn(visible(`${step}: not done. ${details ?? String(error)}`));
      throw error;
    }
  }
}
