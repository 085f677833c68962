import { userInfo, hostname } from 'node:os';
import type { AbandonedLock } from '../../lock/abandoned.js';
import type { ContenderSnapshot } from '../../lock/snapshot.js';
import { visible } from '../../lock/visible.js';
import { momentText, spanText } from './words.js';

/** Describes a contender in one line: `ReportsService.send on web-3 (pid 4711)`. */
export function whoText({ client, sessionId }: Pick<ContenderSnapshot, 'client' | 'sessionId'>): string {
  // A client of another make says nothing of itself that could be read here.
  if (client === undefined) return `another client, session ${sessionId}`;
  return nameText(client) ?? `session ${sessionId}`;
}

interface Named {
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  readonly label?: string | undefined;
}

/** @returns undefined where nothing is known */
export function nameText({ host, pid, label }: Named): string | undefined {
  const process = pid === undefined ? undefined : host === undefined ? `pid ${pid}` : `(pid ${pid})`;
  const place = [host, process].filter((part) => part !== undefined).join(' ');
  if (label === undefined) return place === '' ? undefined : visible(place);
  return visible(place === '' ? label : `${label} on ${place}`);
}

/** The lines that describe a holder. */
export function holderLines(holder: ContenderSnapshot): string[] {
  const { fencingToken, mode, since, ageMs, sessionId, nodePath } = holder;
  return [
    `  token    ${fencingToken}`,
    `  who      ${whoText(holder)}`,
    `  mode     ${mode}`,
    `  queued   ${spanText(ageMs)} ago, ${momentText(since)}`,
    `  session  ${sessionId}`,
    `  node     ${visible(nodePath)}`,
  ];
}

/** Tells all that is known of a holder that vanished. */
export function abandonedLines(abandoned: AbandonedLock): string[] {
  const { token, since, checkpoint, recoverer } = abandoned;
  return [
    `  token       ${token}`,
    `  who         ${nameText(abandoned) ?? 'unknown'}`,
    `  queued      ${momentText(since)}`,
    ...(checkpoint === undefined ? [] : [`  checkpoint  ${visible(JSON.stringify(checkpoint))}`]),
    ...(recoverer === undefined
      ? []
      : [`  and then    ${nameText(recoverer) ?? 'unknown'}, token ${recoverer.token}, which vanished as well`]),
  ];
}

/** Names the caller for the audit: the user of this machine. */
export function callerName(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run as a user that has no name there.
    return `uid ${process.getuid?.() ?? 'unknown'}@${hostname()}`;
  }
}
