import type { Reply } from '../../../lib/session/requests.js';
import { SET_WATCHES_XID } from '../../../lib/session/core/link.js';
import type { ScriptedDialer, ScriptedLink, SentRequest } from './scripted-dialer.js';
import type { ManualClock } from './manual-clock.js';
import { stat } from './session-world.js';

export interface ServingOptions {
  readonly clock: ManualClock;
  readonly dialer: ScriptedDialer;
  readonly grantMs: number;
  /** From the request to its answer. */
  readonly latencyMs: () => number;
}

/** Servers that grant and answer everything, in order. */
export function serve({ clock, dialer, grantMs, latencyMs }: ServingOptions): void {
  dialer.onDial = (link) => {
    let freeAt = 0;
    const later = (run: () => void): void => {
      freeAt = Math.max(freeAt, clock.now() + latencyMs());
      clock.setTimer(freeAt - clock.now(), run);
    };
    link.onSend = (sent) => later(() => answer(link, sent));
    later(() => link.grant(grantMs));
  };
}

function answer(link: ScriptedLink, { xid, request }: SentRequest): void {
  let reply: Reply = undefined;
  if (request.op === 'create') reply = { path: request.path, stat: stat() };
  if (request.op === 'set' || request.op === 'exists') reply = stat();
  if (request.op === 'list') reply = { children: [], stat: stat() };
  if (request.op === 'get') reply = { data: new Uint8Array(0), stat: stat() };
  link.reply(request.op === 'setWatches' ? SET_WATCHES_XID : xid, reply);
}
