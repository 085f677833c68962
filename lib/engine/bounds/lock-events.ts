import { Subject } from 'rxjs';
import type { LockEvent, LockEventFacts } from '../../lock/events.js';
import { withJson } from '../../lock/json.js';
import { detached } from './owner-context.js';

/** The events of a lock service. Who is told of one has none of the locks around it of whom it is about. */
export class LockEvents extends Subject<LockEvent> {
  override next(facts: LockEventFacts): void {
    if (this.observed) detached(() => super.next(withJson(facts)));
  }
}
