import type { LockState } from '../../../lock/snapshot.js';
import { html, type Html } from '../html.js';
import { STATE_WORDS } from '../shown.js';

/** The state of a lock as a word, and with colour for those who see it. @param isAbandoned somebody vanished inside, and that is not settled */
export function statePill(state: LockState, isAbandoned: boolean): Html {
  // The holder that is inside then puts right what was left.
  const word = state === 'HELD' && isAbandoned ? 'recovering' : STATE_WORDS[state];
  return html`<span class="pill ${word}">${word}</span>`;
}
