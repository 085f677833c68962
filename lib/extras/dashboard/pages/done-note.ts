import type { Done, DoneThen } from '../done-notes.js';
import { html, type Html } from '../html.js';
import { plural, shownTime } from '../shown.js';
import { note } from './frame.js';

/** In the past tense, and with the time in front: what has happened to the lock since is not in it. */
const TEXTS: Readonly<Record<Done['what'], (count: number) => Html | string>> = {
  'in order': () => 'The lock was broken. The work of its holder had ended in time.',
  'removed by force': () =>
    html`The lock was broken <strong>by force</strong>: its holder had not ended when its time was over. Its work may
      have gone on.`,
  'was gone already': () => 'The holder had left before it could be told. Nothing was broken.',
  drained: (count) => `${plural(count, 'wait was', 'waits were')} ended.`,
  cleared: () => 'The key was opened again.',
};

/** Says what was done, and when. */
export function doneNote({ what, count = 0, at }: DoneThen): Html {
  return note(html`${shownTime(at)} UTC: ${TEXTS[what](count)}`, 'good');
}
