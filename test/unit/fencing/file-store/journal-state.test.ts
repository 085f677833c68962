import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  baseOf,
  type JournalState,
  stateAfter,
  UNTOUCHED,
  type Verdict,
  verdictOn,
} from '../../../../lib/fencing/file-store/journal-state.js';
import { encodeRecord, type JournalRecord, type RecordKind } from '../../../../lib/fencing/file-store/record.js';

let count = 0;
function record(kind: RecordKind, token: bigint, text = '', onlyAfter?: string): JournalRecord {
  count += 1;
  return { kind, token, id: `r${count}`, onlyAfter, payload: Buffer.from(text) };
}

/** A journal of which every record is read. */
class Replay {
  state: JournalState = UNTOUCHED;

  apply(one: JournalRecord): Verdict {
    const verdict = verdictOn(one, this.state);
    if (verdict === 'counts') this.state = stateAfter(this.state, one);
    return verdict;
  }
}

function shown({ state: { mark, content, writtenUnder, isSealed, lastChange } }: Replay): unknown {
  return { mark, content: content?.copy().toString(), writtenUnder, isSealed, lastChange };
}

const anyChange = fc
  .tuple(
    fc.constantFrom<RecordKind>('write', 'append', 'claim', 'remove'),
    fc.bigInt({ min: 1n, max: 9n }),
    fc.string({ maxLength: 3 }),
  )
  .map(([kind, token, text]) => record(kind, token, text));

describe('the state of a journal', () => {
  it('follows the tokens: equal and higher ones count, a smaller one comes too late', () => {
    const journal = new Replay();

    expect(journal.apply(record('write', 5n, 'a'))).toBe('counts');
    expect(journal.apply(record('append', 5n, 'b'))).toBe('counts');
    expect(journal.apply(record('append', 4n, 'x'))).toBe('stale');
    expect(journal.apply(record('remove', 4n))).toBe('stale');
    expect(journal.apply(record('append', 6n, 'c'))).toBe('counts');
    expect(shown(journal)).toMatchObject({ mark: 6n, content: 'abc', writtenUnder: 6n });
  });

  it('is claimed without a change of the content', () => {
    const journal = new Replay();
    journal.apply(record('write', 5n, 'a'));

    expect(journal.apply(record('claim', 7n))).toBe('counts');
    expect(journal.apply(record('write', 6n, 'late'))).toBe('stale');
    expect(shown(journal)).toMatchObject({ mark: 7n, content: 'a', writtenUnder: 5n });
  });

  it('keeps the token of what is removed', () => {
    const journal = new Replay();
    journal.apply(record('write', 5n, 'a'));
    journal.apply(record('remove', 7n));

    expect(shown(journal)).toMatchObject({ mark: 7n, content: undefined });
    expect(journal.apply(record('append', 6n, 'late'))).toBe('stale');
    expect(journal.apply(record('append', 7n, 'new'))).toBe('counts');
    expect(shown(journal)).toMatchObject({ content: 'new' });
  });

  it('takes a conditional write only for the content that it was made for', () => {
    const journal = new Replay();
    const first = record('write', 5n, 'a');
    journal.apply(first);
    journal.apply(record('claim', 5n));

    expect(journal.apply(record('write', 5n, 'b', first.id))).toBe('counts');
    expect(journal.apply(record('write', 9n, 'c', first.id))).toBe('overtaken');
    expect(shown(journal)).toMatchObject({ mark: 5n, content: 'b' });
  });

  it('is at its end behind a seal that counts', () => {
    const journal = new Replay();
    journal.apply(record('write', 5n, 'a'));

    expect(journal.apply(record('seal', 4n))).toBe('stale');
    expect(journal.state.isSealed).toBe(false);
    expect(journal.apply(record('seal', 5n))).toBe('counts');
    expect(journal.apply(record('write', 9n, 'behind'))).toBe('sealed');
    expect(shown(journal)).toMatchObject({ mark: 5n, content: 'a', isSealed: true });
  });

  it('never has a token go back, and a record that does not count changes nothing', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 30 }), (changes) => {
        const journal = new Replay();
        for (const change of changes) {
          const before = shown(journal);
          const { mark } = journal.state;
          const verdict = journal.apply(change);
          expect(verdict).toBe(change.token < mark ? 'stale' : 'counts');
          expect(journal.state.mark >= mark).toBe(true);
          if (verdict !== 'counts') expect(shown(journal)).toEqual(before);
        }
      }),
    );
  });

  it('goes on in the next journal as it ended, at whatever record the first one is sealed', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 12 }), fc.array(anyChange, { maxLength: 12 }), (first, second) => {
        const whole = new Replay();
        for (const change of [...first, ...second]) whole.apply(change);
        const sealed = new Replay();
        for (const change of first) sealed.apply(change);
        const next = new Replay();
        expect(next.apply(baseOf(sealed.state))).toBe('counts');
        expect(shown(next)).toEqual(shown(sealed));
        expect(encodeRecord(baseOf(next.state))).toEqual(encodeRecord(baseOf(sealed.state)));
        for (const change of second) next.apply(change);
        expect(shown(next)).toEqual(shown(whole));
      }),
      { numRuns: 300 },
    );
  });
});
