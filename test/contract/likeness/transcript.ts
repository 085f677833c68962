import { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { SessionError } from '../../../lib/session/errors.js';
import { create, sync, type WatchEvent } from '../../../lib/session/requests.js';
import type { Session } from '../../../lib/session/session.js';
import { randomRequest } from './random-requests.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const REQUESTS = 150;

/**
 * What two sessions ask, chosen by the seed, what they are answered, and what their watches are told; without what
 * differs from one ensemble to the next (clock times, session ids, where transaction numbers begin).
 */
export async function transcript(
  sessions: readonly [Session, Session],
  seed: number,
  settle: <T>(promise: Promise<T>) => Promise<T>,
): Promise<string[]> {
  const random = new SeededRandom(seed);
  const told: string[][] = [[], []];
  const watchers = told.map((events) => ({
    onWatchEvent: ({ type, path }: WatchEvent) => void events.push(`${type} ${path}`),
  }));
  const base = (await settle(replyTo(sessions[0], create('/base', 'ephemeral')))).stat.czxid;
  const plain = (value: unknown): string =>
    JSON.stringify(value, (name, part: unknown) => simplify(name, part, base, sessions));
  const lines: string[] = [];
  for (let index = 0; index < REQUESTS; index += 1) {
    const who = random.integer(2) as 0 | 1;
    const request = randomRequest(random, watchers[who]!);
    const [outcome] = await settle(sessions[who].batch([request]));
    // Events stand in front of the answers to what was asked later.
    for (const session of sessions) await settle(replyTo(session, sync('/')));
    const events = told.map((list) => list.splice(0).sort().join(', ')).join(' / ');
    lines.push(`${who} ${plain(request)} => ${plain(outcome)} | ${events}`);
  }
  return lines;
}

function simplify(name: string, value: unknown, base: bigint, [first, second]: readonly [Session, Session]): unknown {
  if (name === 'watch') return true;
  if (name === 'data' && value !== undefined && !Array.isArray(value)) return bytesOf(value as object);
  if (name === 'ctime' || name === 'mtime') return undefined;
  if (name === 'children') return [...(value as string[])].sort();
  if (name === 'ephemeralOwner') {
    return value === first.identity?.id ? 'first' : value === second.identity?.id ? 'second' : String(value);
  }
  if (typeof value === 'bigint') return Number(value - base);
  if (value instanceof SessionError) return `${value.code} ${value.path ?? ''}`;
  return value;
}

/** A buffer has been turned into an object with its bytes by now, a plain array of bytes into one with their indices. */
function bytesOf(value: object): number[] {
  return 'data' in value ? (value.data as number[]) : (Object.values(value) as number[]);
}
