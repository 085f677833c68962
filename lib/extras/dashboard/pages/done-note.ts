import { html, type Html } from '../html.js';
import { plural } from '../shown.js';
import { note } from './frame.js';

/** What was done, as the address of the page behind it says: a word, and a number for a drain. */
const TEXTS: Readonly<Record<string, (count: number) => Html | string>> = {
  'in order': () => 'The lock was broken. The work of its holder had ended in time.',
  'removed by force': () =>
    html`The lock was broken <strong>by force</strong>: its holder had not ended when its time was over. Its work may
      still go on.`,
  'was gone already': () => 'The holder had left before it could be told. Nothing was broken.',
  drained: (count) => `${plural(count, 'wait was', 'waits were')} ended.`,
  cleared: () => 'The key is open again.',
};

/** @returns undefined where the address says nothing that there is */
export function doneNote(parameters: URLSearchParams): Html | undefined {
  const done = parameters.get('done') ?? '';
  if (!Object.hasOwn(TEXTS, done)) return undefined;
  const count = Number(parameters.get('count') ?? 0);
  return note(TEXTS[done]!(Number.isSafeInteger(count) && count >= 0 ? count : 0), 'good');
}
