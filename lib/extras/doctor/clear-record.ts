import { StaleFencingTokenError } from '../../lock/errors.js';
import type { AbandonedLock, AbandonedLockJson } from '../../lock/abandoned.js';
import type { AsJson } from '../../lock/json.js';
import { clearedRecord, encodeRecord, parseRecord, toldOf, type Vanished, vanishedIn } from '../../queue/key-record.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { type PatientLink, refusal } from '../../session/patient-link.js';
import { set } from '../../session/requests.js';
import type { StepOptions } from './doctor-options.js';
import { namesIn } from './queue-look.js';

export interface ClearOptions extends StepOptions {
  /**
   * The token of the holder that vanished, as LOCK_ABANDONED and `inspect` show it. With another one nothing is done.
   */
  readonly token: bigint;
}

export interface ClearFacts {
  readonly key: string;
  readonly token: bigint;
  /** The holder that vanished, as the record described it until now. */
  readonly abandoned: AbandonedLock;
}

export interface ClearResultJson {
  readonly key: string;
  readonly token: string;
  readonly abandoned: AbandonedLockJson;
}

/** Tells what was cleared. `JSON.stringify` accepts it. */
export interface ClearResult extends ClearFacts, AsJson<ClearResultJson> {}

/**
 * Forgets a holder that vanished inside, so that the next one enters as after an orderly release.
 * @throws StaleFencingTokenError where no such holder is in the record, or it is in the queue still: nothing is written
 */
export async function clearRecord(
  link: PatientLink,
  key: string,
  queuePath: string,
  token: bigint,
): Promise<AbandonedLock> {
  for (;;) {
    // A holder that is named in the record and is not in the queue has vanished, or has released its lock between the two reads: then
    // the record has another version by now, and the write below is refused.
    const read = await link.read(queuePath);
    const names = await namesIn(link, queuePath);
    const record = read === undefined ? {} : parseRecord(read.data);
    const { inside } = record;
    const isInside = inside !== undefined && names.includes(inside.name);
    const vanished = vanishedIn(record, isInside ? inside.name : '');
    if (read === undefined || vanished === undefined || isInside || !tokensOf(vanished).includes(token))
      throw notCleared(key, token, vanished, isInside);
    await link.untilUp();
    const data = encodeRecord(clearedRecord(record, read.stat.mtime));
    const [written] = await link.send([set(queuePath, data, read.stat.version)], 'write');
    if (!(written instanceof SessionError)) return toldOf(vanished);
    // Somebody has changed the record meanwhile, or the answer was lost: another look shows which.
    if (!isAboutTheLink(written) && !failedWith(written, 'BAD_VERSION') && !failedWith(written, 'NO_NODE'))
      throw refusal(written, queuePath);
    if (written.outcomeUnknown && (await isCleared(link, queuePath, vanished))) return toldOf(vanished);
  }
}

async function isCleared(link: PatientLink, queuePath: string, { holder }: Vanished): Promise<boolean> {
  const read = await link.read(queuePath);
  const { inside, abandoned } = read === undefined ? {} : parseRecord(read.data);
  return inside?.name !== holder.name && abandoned?.name !== holder.name;
}

function tokensOf({ holder, recoverer }: Vanished): readonly bigint[] {
  return recoverer === undefined ? [holder.token] : [holder.token, recoverer.token];
}

function notCleared(key: string, token: bigint, vanished: Vanished | undefined, isInside: boolean): Error {
  const tokens = vanished === undefined ? '' : tokensOf(vanished).join(' and then ');
  const what = isInside
    ? 'Somebody is inside, and recovers what was left, or has taken its place: wait for that, or break that lock first'
    : vanished === undefined
      ? 'No holder that vanished is in its record: nothing keeps it closed'
      : `The holder that vanished has the token ${tokens}. Look again at what it left, and clear that one if it is repaired`;
  return new StaleFencingTokenError(`Nothing was cleared of ${key} for the token ${token}. ${what}`, key);
}
