import type { ContenderSnapshot } from '../../../lock/snapshot.js';
import { addressOf } from '../address.js';
import type { DashboardOperation } from '../dashboard-options.js';
import { html, type Html } from '../html.js';
import type { LockLook } from '../live-locks.js';
import { plural, shownDate, shownDuration, shownTime, STATE_WORDS } from '../shown.js';
import { abandonedNote } from './abandoned-note.js';
import { frame } from './frame.js';
import { statePill } from './state-pill.js';
import { timeline } from './timeline.js';

/** The visitor may take those of these steps that are true. */
export type Allowed = Readonly<Record<DashboardOperation['type'], boolean>>;

/** One lock: who holds it, who waits in which order, and who held it before, on one scale of time. */
export function lockPage(look: LockLook, allowed: Allowed, done: Html | undefined, connection?: string): string {
  const { snapshot, at } = look;
  const { key, state, holders, queue, queueLength, abandoned, waitEstimateMs } = snapshot;
  const template = [...holders, ...queue].find(({ client }) => client?.template !== undefined)?.client?.template;
  const facts = [
    plural(holders.length, 'holder', 'holders'),
    plural(queueLength, 'call waits', 'calls wait'),
    ...(waitEstimateMs === undefined ? [] : [`a newcomer would wait about ${shownDuration(waitEstimateMs)}`]),
  ];
  const drain = html`<a class="button" id="drain" href="${addressOf('step', { do: 'drain', key })}"
    >Drain the queue</a
  >`;
  const main = html`<p class="crumbs"><a href="list">All locks</a></p>
    <div class="heading">
      <h1><bdi>${key}</bdi></h1>
      ${statePill(state, abandoned !== undefined)}
      <p class="muted">
        ${template === undefined ? undefined : html`<bdi>${template}</bdi>, `}${facts.join(', ')}, seen at
        <time datetime="${at.toISOString()}" title="${shownDate(at)}">${shownTime(at)} UTC</time>
      </p>
    </div>
    ${done} ${abandoned === undefined ? undefined : abandonedNote(key, abandoned, allowed.clear && state !== 'HELD')}
    ${timeline(look, (holder) => (allowed.break ? breakLink(key, holder) : undefined))}
    ${allowed.drain && queueLength > 0 ? html`<p class="actions">${drain}</p>` : undefined}`;
  const news = `${key} is ${STATE_WORDS[state]}, ${plural(queueLength, 'call waits', 'calls wait')}`;
  return frame({ title: key, main, news, ...(connection && { connection }) });
}

function breakLink(key: string, { fencingToken, client }: ContenderSnapshot): Html {
  const token = String(fencingToken);
  const address = addressOf('step', { do: 'break', key, token });
  return html`<a
    class="button"
    id="break-${token}"
    href="${address}"
    aria-label="Break the lock of ${client?.label ?? 'the holder'}, token ${token}"
    >Break</a
  >`;
}
