import type { AbandonedLock, VanishedHolder } from '../../../lock/abandoned.js';
import { addressOf } from '../address.js';
import { html, type Html } from '../html.js';
import { labelOf, placeOf, shownDate } from '../shown.js';

/** Tells who vanished inside the lock, and what it had noted down. @param mayClear whether the visitor may open the key again */
export function abandonedNote(key: string, abandoned: AbandonedLock, mayClear: boolean): Html {
  const { token, checkpoint, recoverer } = abandoned;
  const noted =
    checkpoint === undefined
      ? undefined
      : html`<p>
          Its last checkpoint: <code><bdi>${JSON.stringify(checkpoint)}</bdi></code>
        </p>`;
  const address = addressOf('step', { do: 'clear', key, token: String(token) });
  return html`<section class="note bad" aria-labelledby="abandoned">
    <h2 id="abandoned">A holder vanished inside</h2>
    <p>
      ${described(abandoned)} died, or lost the lock, before it had released
      it.${
        recoverer === undefined ? undefined : html` ${described(recoverer)} came to recover that, and vanished as well.`
      }
    </p>
    ${noted} ${mayClear ? html`<p><a class="button" id="clear" href="${address}">Clear</a></p>` : undefined}
  </section>`;
}

function described(holder: VanishedHolder): Html {
  const { token, since } = holder;
  return html`<strong><bdi>${labelOf(holder)}</bdi></strong> on <bdi>${placeOf(holder)}</bdi> (token ${token}, in the
    queue since ${shownDate(since)})`;
}
