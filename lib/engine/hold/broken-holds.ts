import { isUp } from '../../session/connection-state.js';
import type { Session } from '../../session/session.js';
import { IndexedSet } from '../collections.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { Hold } from './hold.js';

/**
 * The holds that somebody has broken, and whose work has not ended: it puts right what is half done. They hold nothing any more, but
 * their nodes stay, and keep others out meanwhile.
 */
export class BrokenHolds extends IndexedSet<Hold> {
  constructor(session: Session, link: LinkState) {
    super();
    link.onChange('holders', (state) => {
      for (const hold of this.all()) {
        // The node has ended with its session, or is a leftover of one that was given up.
        if (hold.contender.session !== session.identity) void hold.endBroken('lost');
        // Contenders of this process stand behind the node, so its removal by force must be told here, too.
        else if (isUp(state)) hold.watchOwn();
      }
    });
  }

  /** The lock service is closed: the nodes keep nobody out any more. */
  endAll(): void {
    for (const hold of this.all()) void hold.endBroken('lost');
  }
}
