import type { AbandonedPolicy } from '../../lock/abandoned.js';
import type { AcquireOptions } from '../../lock/acquire-options.js';
import { refuse } from '../../lock/option-rules.js';
import type { Newcomer } from '../../queue/key-record.js';
import type { RecordRules } from '../acquire/obstacles.js';

/** What the options of a call, and the module's lock-delay, mean for the record of its key. */
export class RecordWishes implements RecordRules {
  /** @param lockDelayMs 0 means that there is no lock-delay */
  constructor(private readonly lockDelayMs: number) {}

  /** Whether a call writes into the record of its key. */
  isUsedBy({ atLeastMs, onAbandoned }: AcquireOptions): boolean {
    return atLeastMs !== undefined || onAbandoned !== undefined || this.lockDelayMs > 0;
  }

  /** @throws LockConfigurationError */
  checkOptions({ onAbandoned }: AcquireOptions, key: string): void {
    if (onAbandoned === 'delay' && this.lockDelayMs === 0)
      refuse("onAbandoned: 'delay' waits for the module's lockDelayMs, and there is none", key);
  }

  /** What a call does after a holder that vanished. */
  of(options: AcquireOptions): Pick<Newcomer, 'policy' | 'canRecover' | 'delayMs'> {
    const policy = this.#policyOf(options);
    return { policy, canRecover: options.recover !== undefined, delayMs: policy === 'delay' ? this.lockDelayMs : 0 };
  }

  /** What those who come after the holder do if it vanishes. */
  left(options: AcquireOptions): { readonly policy: AbandonedPolicy; readonly delayMs: number | undefined } {
    const policy = this.#policyOf(options) ?? 'enter';
    return { policy, delayMs: policy === 'delay' ? this.lockDelayMs : undefined };
  }

  #policyOf({ onAbandoned }: AcquireOptions): AbandonedPolicy | undefined {
    return onAbandoned ?? (this.lockDelayMs > 0 ? 'delay' : undefined);
  }
}
