import type { ResolvedOptions } from '../../options.js';
import type { CheckItem, CheckName, CheckOutcome, EnsembleMeasures } from './ensemble-check.js';
import type { ServerReport } from './server-report.js';

const SUPPORTED = /^3\.[89]\./;
const MIN_TICKS = 4;
/** The servers' own bounds of a session time-out, in ticks. */
const DEFAULT_BOUNDS = { least: 2, most: 20 };
const DAY_MS = 86_400_000;
const CERTIFICATE_DAYS = 14;
/** Commits that take this part of the session time-out are a warning, or a failure. */
const SLOW_COMMITS = 20;
const TOO_SLOW_COMMITS = 4;
const LATE_TIMERS = 10;
const CLOCKS_APART_MS = 5_000;

/** The measures are judged by this. */
export interface Standard {
  readonly options: ResolvedOptions;
  readonly maxCommitMs: number | undefined;
  /** The time of the wall clock. */
  readonly nowMs: number;
}

/** Says what follows from the measures for locks with these options. Each part that was measured is judged. */
export function judgeEnsemble(measures: EnsembleMeasures, standard: Standard): CheckItem[] {
  return [
    judgeServers(measures.servers),
    judgeTls(measures.servers, standard),
    ...judgeTimeout(measures, standard),
    ...judgeTicks(measures, standard),
    ...judgeAccess(measures, standard),
    ...judgeCommits(measures, standard),
    ...judgeClocks(measures),
  ];
}

export function worstOf(items: readonly CheckItem[]): CheckOutcome {
  const outcomes = items.map(({ outcome }) => outcome);
  return outcomes.includes('failed') ? 'failed' : outcomes.includes('warning') ? 'warning' : 'ok';
}

function ok(name: CheckName, text: string): CheckItem {
  return { name, outcome: 'ok', text, advice: undefined };
}

function bad(name: CheckName, outcome: 'warning' | 'failed', text: string, advice: string): CheckItem {
  return { name, outcome, text, advice };
}

function judgeServers(servers: readonly ServerReport[]): CheckItem {
  const text = servers.map(({ server, version, role, failure }) => {
    return `${server} ${failure === undefined ? `${version ?? 'does not tell its version'}${role === undefined ? '' : ` ${role}`}` : `does not serve: ${failure}`}`;
  });
  const warn = (advice: string): CheckItem => bad('servers', 'warning', text.join(', '), advice);
  if (servers.some(({ failure }) => failure !== undefined))
    return warn('One server less can be lost than you count on: look after it');
  const others = servers.filter(({ version }) => version !== undefined && !SUPPORTED.test(version));
  if (others.length > 0) return warn('The tests run on ZooKeeper 3.8 and 3.9: docs/production.md, "Which servers"');
  if (servers.some(({ role }) => role === 'standalone'))
    return warn('A single server: nobody holds a lock while it is away. Three survive the loss of one');
  return ok('servers', text.join(', '));
}

function judgeTls(servers: readonly ServerReport[], { options: { tls, auth }, nowMs }: Standard): CheckItem {
  if (tls === undefined) {
    if (auth.length === 0) return ok('tls', 'off');
    return bad('tls', 'warning', 'off', 'The password of auth goes over the network in plain text: set tls');
  }
  const [protocol] = servers.flatMap(({ tlsProtocol }) => tlsProtocol ?? []);
  const ends = servers.flatMap(({ certificateUntil }) => certificateUntil?.getTime() ?? []);
  if (ends.length === 0) return ok('tls', protocol ?? 'on');
  const days = Math.floor((Math.min(...ends) - nowMs) / DAY_MS);
  const text = `${protocol ?? 'on'}, the first certificate of the servers ends in ${days} days`;
  return days < CERTIFICATE_DAYS ? bad('tls', 'warning', text, 'Replace it in time') : ok('tls', text);
}

function judgeTimeout(
  { sessionTimeoutMs, sessionBoundsMs }: EnsembleMeasures,
  { options: { serverTickMs } }: Standard,
): CheckItem[] {
  if (sessionTimeoutMs === undefined) return [];
  const { asked, granted } = sessionTimeoutMs;
  const bounds =
    sessionBoundsMs === undefined
      ? ''
      : `, and the servers allow ${sessionBoundsMs.least} to ${sessionBoundsMs.most} ms`;
  const text = `${granted} ms granted, ${asked} ms asked${bounds}`;
  const warn = (advice: string): CheckItem[] => [bad('session time-out', 'warning', text, advice)];
  const least = MIN_TICKS * serverTickMs;
  if (granted < least) {
    const what = asked < least ? `Ask for ${least} ms` : `Raise maxSessionTimeout of the servers to ${least} or more`;
    return warn(`Less than four ticks (serverTickMs: ${serverTickMs}): locks would be lost soon. ${what}`);
  }
  if (granted !== asked) return warn('Only what is granted counts: ask for that, or change the bounds of the servers');
  return [ok('session time-out', text)];
}

function judgeTicks({ sessionBoundsMs }: EnsembleMeasures, { options: { serverTickMs } }: Standard): CheckItem[] {
  if (sessionBoundsMs === undefined) return [];
  const { least, most } = sessionBoundsMs;
  // A session shows the bounds of its time-out, and not the servers' tick. Where nobody has set the bounds, they follow from it.
  const tickMs = least / DEFAULT_BOUNDS.least;
  if (most !== tickMs * DEFAULT_BOUNDS.most) {
    const text = `serverTickMs is ${serverTickMs}; the tick of the servers cannot be told, as their bounds are set by hand`;
    return [bad('ticks', 'warning', text, "Compare it with the servers' tickTime: it must not be less")];
  }
  const text = `serverTickMs is ${serverTickMs}, and the servers' tick ${tickMs} ms, as their bounds show`;
  if (serverTickMs >= tickMs) return [ok('ticks', text)];
  const advice = `Set serverTickMs to ${tickMs}: with less, holders believe in their locks for too long`;
  return [bad('ticks', 'failed', text, advice)];
}

function judgeAccess({ lockMs }: EnsembleMeasures, { options: { acl, auth, kerberos } }: Standard): CheckItem[] {
  if (lockMs === undefined) return [];
  const isOpen = acl.some(({ scheme }) => scheme === 'world');
  const who = kerberos !== undefined ? 'with Kerberos' : auth.length > 0 ? 'with a digest' : 'without credentials';
  const rights = isOpen ? 'anybody may use its nodes' : 'only clients with the same identity may use its nodes';
  return [ok('access', `a lock was acquired and released ${who} in ${lockMs} ms; ${rights}`)];
}

function judgeCommits({ commits, sessionTimeoutMs }: EnsembleMeasures, { maxCommitMs }: Standard): CheckItem[] {
  if (commits === undefined || sessionTimeoutMs === undefined) return [];
  const { count, p50Ms, p99Ms, slowestMs } = commits;
  const text = `p50 ${p50Ms} ms, p99 ${p99Ms} ms, slowest ${slowestMs} ms of ${count} writes`;
  // A write proves that the session lives, and a quarter of the time-out is left for it.
  const mostMs = maxCommitMs ?? sessionTimeoutMs.granted / TOO_SLOW_COMMITS;
  const advice = "Look at the servers' disks (dataLogDir on a disk of its own), and at the network between them";
  if (p99Ms > mostMs) return [bad('commits', 'failed', `${text}; more than ${mostMs} ms`, advice)];
  if (p99Ms > sessionTimeoutMs.granted / SLOW_COMMITS) return [bad('commits', 'warning', text, advice)];
  return [ok('commits', text)];
}

function judgeClocks({ loopDelayMs, serverClockAheadMs, sessionTimeoutMs }: EnsembleMeasures): CheckItem[] {
  if (loopDelayMs === undefined || sessionTimeoutMs === undefined) return [];
  const ahead = serverClockAheadMs ?? 0;
  const clock =
    Math.abs(ahead) < 1_000
      ? 'within a second of'
      : `${Math.abs(Math.round(ahead / 1_000))} s ${ahead > 0 ? 'ahead of' : 'behind'}`;
  const text = `timers here are up to ${loopDelayMs} ms late; the servers' clock is ${clock} this one`;
  if (loopDelayMs > sessionTimeoutMs.granted / LATE_TIMERS)
    return [
      bad(
        'clocks',
        'warning',
        text,
        'This machine is overloaded, or its processor is throttled: pauses of S lose locks',
      ),
    ];
  if (Math.abs(ahead) > CLOCKS_APART_MS)
    return [bad('clocks', 'warning', text, 'No lock leans on it, but the times that people are shown do: keep NTP')];
  return [ok('clocks', text)];
}
