import type { RawRecord } from './raw-record.js';
import type { Entry, Step } from './steps.js';

/** One process at one key: what the servers had before it came and when it was gone, and what it said of itself. */
export interface Passage {
  readonly pid: number;
  readonly before: RawRecord;
  readonly after: RawRecord;
  readonly entries: readonly Entry[];
}

/**
 * What became of a process, by what the servers have committed.
 *
 * A process dies inside if the record names it when all its requests were carried out, or have been lost with it. Nothing else can
 * tell: a process that was killed before the answer to its entry came does not know whether it was inside, and one that was
 * killed behind its release does not know whether it still was. Whoever the record names must be told of, though it may have
 * done nothing yet; whoever it does not name has done nothing yet, or has released in order.
 */
export interface Verdict {
  readonly diedInside: boolean;
  /** It found what another had left, and died before the servers had that this was repaired. */
  readonly diedRecovering: boolean;
  readonly hasRecovered: boolean;
  readonly faults: readonly string[];
}

export function audit({ pid, before, after, entries }: Passage): Verdict {
  const owed = before.abandoned ?? before.inside;
  const recoverer = before.abandoned && before.inside;
  const diedInside = after.inside?.pid === pid;
  const isUntouched = JSON.stringify(after) === JSON.stringify(before);
  const diedRecovering = diedInside && after.abandoned !== undefined;
  const hasRecovered = owed !== undefined && !isUntouched && !diedRecovering;

  const faults: string[] = [];
  const must = (holds: boolean, what: string): void => void (holds || faults.push(what));
  const steps = entries.map(({ step }) => step);
  const has = (step: Step): boolean => steps.includes(step);
  // By its own words: what it did since its last turn began.
  const last = steps.slice(steps.lastIndexOf('asks') + 1);
  const wasCertainlyInside = (last.includes('recovers') || last.includes('enters')) && !last.includes('releases');
  const hadCertainlyLeft = last.includes('released');

  must(diedInside || isUntouched || after.inside === undefined, 'it left the name of somebody else');
  must(!wasCertainlyInside || diedInside, 'it died inside, and the record does not name it');
  must(!hadCertainlyLeft || !diedInside, 'it had released, and the record names it');
  must(!has('enters') || owed === undefined || hasRecovered, 'it entered, and what was left is not repaired');
  must(!diedRecovering || after.abandoned?.token === owed?.token, 'it took over what nobody had left');
  must(!hasRecovered || has('repaired'), 'the servers have it for repaired, and it repaired nothing');
  const tellings = entries.filter(({ step }) => step === 'recovers').map(({ facts }) => facts.join(' '));
  const expected = owed === undefined ? [] : [`${owed.token} ${recoverer?.token ?? 'nobody'}`];
  must(tellings.length === 0 || tellings.join() === expected.join(), 'it was told of what was not so');
  return { diedInside, diedRecovering, hasRecovered, faults };
}
