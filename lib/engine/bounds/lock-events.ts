import { Subject } from 'rxjs';
import type { LockEvent, LockEventFacts } from '../../lock/events.js';
import { withJson } from '../../lock/json.js';
import { detached } from './owner-context.js';

/** The events of a lock service. */
export class LockEvents extends Subject<LockEvent> {
  override next(facts: LockEventFacts): void {
    // A listener runs in the call that the event is about, but has none of that call's locks around it.
    if (this.observed) detached(() => super.next(withJson(facts)));
  }
}
