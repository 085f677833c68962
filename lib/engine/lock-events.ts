import { Subject } from 'rxjs';
import type { LockEvent } from '../lock/events.js';
import { detached } from './owner-context.js';

/** The events of a lock service. Who is told of one has none of the locks around it of whom it is about. */
export class LockEvents extends Subject<LockEvent> {
  override next(event: LockEvent): void {
    if (this.observed) detached(() => super.next(event));
  }
}
