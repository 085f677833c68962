import type { LockService } from '../../../../lib/engine/lock-service.js';
import type { AcquireOptions } from '../../../../lib/lock/acquire-options.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { fillServiceSlot } from '../../../../lib/nest/locked/service-slot.js';

type Work = (lock: LockHandle) => unknown;

/** Stands in for a lock service where only what it is asked for matters. */
export class RecordingService {
  readonly keys: string[] = [];
  readonly options: (AcquireOptions | undefined)[] = [];

  static in(instance: object): RecordingService {
    const service = new RecordingService();
    fillServiceSlot(instance, 'default', service as unknown as LockService);
    return service;
  }

  async withLock(key: string, work: Work, options?: AcquireOptions): Promise<unknown> {
    this.keys.push(key);
    this.options.push(options);
    return work({ key, fencingToken: 7n } as LockHandle);
  }
}
