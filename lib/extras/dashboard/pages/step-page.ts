import type { ContenderSnapshot } from '../../../lock/snapshot.js';
import { addressOf } from '../address.js';
import type { DashboardOperation } from '../dashboard-options.js';
import { html, type Html } from '../html.js';
import type { LockLook } from '../live-locks.js';
import { labelOf, placeOf, plural, shownDuration } from '../shown.js';
import { frame } from './frame.js';

/** A visitor is about to take this step. */
export interface Step extends DashboardOperation {
  /** Of the holder that is meant, or of the one that vanished; undefined for a drain. */
  readonly token: bigint | undefined;
}

/** The holder of a broken lock may take one of these times to put right what is half done. */
export const GRACES_SECONDS: readonly number[] = [0, 10, 30, 60];
const USUAL_GRACE_SECONDS = 10;
const MAX_REASON_LENGTH = 200;

/** Asks once more, and for the reason. It does nothing by itself. */
export function stepPage(step: Step, look: LockLook, by: string, connection: string): string {
  const { type, key, token } = step;
  const { title, text, button } = WORDS[type](look, token);
  const action = addressOf('step', { do: type, key, token: token === undefined ? undefined : String(token) });
  const main = html`<p class="crumbs">
      <a href="${addressOf('lock', { key })}"><bdi>${key}</bdi></a>
    </p>
    <h1>${title}</h1>
    <div class="note bad">${text}</div>
    <form class="step" action="${action}" method="post">
      <p>
        <label for="reason">Reason</label>
        <input
          id="reason"
          name="reason"
          required
          maxlength="${MAX_REASON_LENGTH}"
          autocomplete="off"
          aria-describedby="told"
        />
      </p>
      <p class="muted" id="told">
        It is done by <bdi>${by}</bdi>. Holders, waiters and the log are told so, with the reason.
      </p>
      ${type === 'break' ? graceField() : undefined}
      <p class="actions">
        <button type="submit" class="danger" data-busy="Under way …">${button}</button>
        <a class="button" href="${addressOf('lock', { key })}">Leave it</a>
      </p>
    </form>`;
  return frame({ title, main, connection });
}

function graceField(): Html {
  const options = GRACES_SECONDS.map((seconds) => {
    const selected = seconds === USUAL_GRACE_SECONDS ? html` selected` : undefined;
    return html`<option value="${seconds}" ${selected}>
      ${seconds === 0 ? 'no time at all' : `${seconds} seconds`}
    </option>`;
  });
  return html`<p>
    <label for="grace">The holder may take, to put right what is half done</label>
    <select id="grace" name="grace">
      ${options}
    </select>
  </p>`;
}

interface Words {
  readonly title: string;
  readonly text: Html;
  readonly button: string;
}

const WORDS: Readonly<Record<Step['type'], (look: LockLook, token: bigint | undefined) => Words>> = {
  break: ({ snapshot: { key, holders } }, token) => {
    const holder = holders.find(({ fencingToken }) => fencingToken === token);
    return {
      title: 'Break the lock?',
      button: 'Break the lock',
      text: html`<p>
          <strong><bdi>${key}</bdi></strong> is taken away from ${named(holder, token)}.
        </p>
        <p>
          It is told at once. When its work has ended, or its time is over, the next in the queue enters. Work that
          cannot be told (a paused process, say) may go on: only a store that checks the fencing token keeps its late
          writes out.
        </p>`,
    };
  },
  drain: ({ snapshot: { key, queueLength, holders } }) => ({
    title: 'Drain the queue?',
    button: 'Drain the queue',
    text: html`<p>
        ${plural(queueLength, 'call that waits', 'calls that wait')} for <strong><bdi>${key}</bdi></strong> will fail
        with LOCK_DRAINED.
      </p>
      <p>${holdersStay(holders)}. Whoever asks afterwards queues as usual.</p>`,
  }),
  clear: ({ snapshot: { key, abandoned } }, token) => ({
    title: 'Open the key again?',
    button: 'Clear',
    text: html`<p>
        <strong><bdi>${key}</bdi></strong> was left by <strong><bdi>${labelOf(abandoned)}</bdi></strong> on
        <bdi>${placeOf(abandoned)}</bdi> (token ${token}), which vanished inside.
      </p>
      <p>
        The next one enters as after an orderly release, and does not hear of this. Clear it when what was left is put
        right by hand.
      </p>`,
  }),
};

function holdersStay(holders: readonly ContenderSnapshot[]): Html | string {
  const [holder] = holders;
  if (holder === undefined) return 'Nobody holds it';
  if (holders.length > 1) return `The ${holders.length} readers inside go on holding it`;
  return html`${named(holder, holder.fencingToken)} goes on holding it`;
}

function named(holder: ContenderSnapshot | undefined, token: bigint | undefined): Html {
  if (holder === undefined) return html`the holder with the token ${token}, which was not seen there a moment ago`;
  const { client, ageMs } = holder;
  return html`<strong><bdi>${labelOf(client)}</bdi></strong> on <bdi>${placeOf(client)}</bdi> (token ${token}, asked
    ${shownDuration(ageMs)} ago)`;
}
