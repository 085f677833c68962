import type { ContenderSnapshot } from '../../../lock/snapshot.js';
import { html, type Html } from '../html.js';
import type { LockLook } from '../live-locks.js';
import type { LockHistory } from '../../doctor/lock-history.js';
import { labelOf, placeOf, plural, shownDate, shownDuration, shownTime } from '../shown.js';
import { bar, timeAxis, type TimeScale } from './time-bars.js';

/** The time that the bars stand for: what somebody has written down as the past may be any number. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 366 * 24 * 3_600_000;

type PastHold = LockHistory['holds'][number];
type Action = (holder: ContenderSnapshot) => Html | undefined;

/**
 * Holders, queue and past in one table with one scale of time: the bars for those who see, the same in words for all. The bar of who
 * holds now begins where it asked: since when it holds, its node does not say.
 */
export function timeline({ at, snapshot, history }: LockLook, action: Action): Html {
  const { holders, queue, queueLength } = snapshot;
  const begins = [...holders, ...queue].map(({ ageMs }) => at.getTime() - ageMs);
  const began = history.holds.map(({ since, waitedMs }) => since.getTime() - waitedMs);
  const toMs = at.getTime();
  const fromMs = Math.max(toMs - LONGEST_MS, Math.min(toMs - SHORTEST_MS, ...begins, ...began));
  const scale = { fromMs, toMs };
  const unseen = queueLength - queue.length;
  return html`<table class="timeline" role="table">
      <caption class="unseen">
        Holders, queue and earlier holds, from ${shownDate(new Date(scale.fromMs))} to now
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Who</th>
          <th role="columnheader" scope="col">Process</th>
          <th role="columnheader" scope="col">Mode</th>
          <th role="columnheader" scope="col">Token</th>
          <th role="columnheader" scope="col" class="when">${timeAxis(scale)}</th>
          <th role="columnheader" scope="col">What</th>
          <th role="columnheader" scope="col"><span class="unseen">Action</span></th>
        </tr>
      </thead>
      ${group(
        'Holds it now',
        holders.map((one) =>
          nowRow(one, scale, { kind: 'asked', text: `asked ${shownDuration(one.ageMs)} ago`, action: action(one) }),
        ),
      )}
      ${group(
        `Waits for it, in this order${unseen > 0 ? ` (${plural(unseen, 'more call', 'more calls')} behind them)` : ''}`,
        queue.map((one) =>
          nowRow(one, scale, { kind: 'waited', text: `waits for ${shownDuration(one.ageMs)}`, action: undefined }),
        ),
      )}
      ${group(
        'Held it before',
        history.holds.map((hold) => pastRow(hold, scale)),
      )}
    </table>
    ${pastNote(history)}`;
}

/** Tells what the rows do not show of the past. */
function pastNote({ holds, dropped }: LockHistory): Html | undefined {
  const text =
    dropped > 0
      ? `${plural(dropped, 'hold', 'holds')} of this key, or of those that are kept beside it, could not be written down in time.`
      : 'No earlier holds are known: the option history of the application’s locks keeps them.';
  return dropped === 0 && holds.length > 0 ? undefined : html`<p class="muted">${text}</p>`;
}

function group(title: string, rows: readonly Html[]): Html {
  const content =
    rows.length > 0
      ? rows
      : html`<tr role="row">
          <td role="cell" colspan="7" class="muted">Nobody</td>
        </tr>`;
  return html`<tbody role="rowgroup">
    <tr role="row" class="group">
      <th role="rowheader" scope="rowgroup" colspan="7">${title}</th>
    </tr>
    ${content}
  </tbody>`;
}

/** A row says this of a contender that is there now. */
interface SaidNow {
  readonly kind: 'asked' | 'waited';
  readonly text: string;
  readonly action: Html | undefined;
}

function nowRow(one: ContenderSnapshot, scale: TimeScale, { kind, text, action }: SaidNow): Html {
  const { client, mode, fencingToken, ageMs, nodePath } = one;
  return row({
    id: nodePath,
    who: [labelOf(client), placeOf(client), mode, String(fencingToken)],
    bars: bar(scale, [{ kind, fromMs: scale.toMs - ageMs, toMs: scale.toMs }]),
    text,
    action,
  });
}

function pastRow(hold: PastHold, scale: TimeScale): Html {
  const { token, mode, since, waitedMs, heldMs, ended } = hold;
  const enteredMs = since.getTime();
  const end = ended === 'released' ? ended : 'lost';
  const parts = [
    { kind: 'waited', fromMs: enteredMs - waitedMs, toMs: enteredMs },
    { kind: end, fromMs: enteredMs, toMs: enteredMs + heldMs },
  ];
  const waited = waitedMs > 0 ? `, waited ${shownDuration(waitedMs)}` : undefined;
  const lost = ended === 'released' ? undefined : html`, <strong class="lost">lost (${ended})</strong>`;
  return row({
    id: `past-${token}`,
    who: [labelOf(hold), placeOf(hold), mode, String(token)],
    bars: bar(scale, parts),
    text: html`<time datetime="${since.toISOString()}" title="${shownDate(since)}">${shownTime(since)}</time>, held
      ${shownDuration(heldMs)}${waited}${lost}`,
    action: undefined,
  });
}

interface TimelineRow {
  readonly id: string;
  readonly who: readonly string[];
  readonly bars: Html;
  readonly text: Html | string;
  readonly action: Html | undefined;
}

function row({ id, who: [label, place, mode, token], bars, text, action }: TimelineRow): Html {
  return html`<tr role="row" data-id="${id}">
    <th role="rowheader" scope="row"><bdi>${label}</bdi></th>
    <td role="cell" class="place"><bdi>${place}</bdi></td>
    <td role="cell">${mode}</td>
    <td role="cell" class="token">${token}</td>
    <td role="cell" class="when">${bars}</td>
    <td role="cell" class="what">${text}</td>
    <td role="cell" class="action">${action}</td>
  </tr>`;
}
