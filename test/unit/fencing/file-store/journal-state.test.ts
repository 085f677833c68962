import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JournalState } from '../../../../lib/fencing/file-store/journal-state.js';
import { encodeRecord, type JournalRecord, type RecordKind } from '../../../../lib/fencing/file-store/record.js';

let count = 0;
function record(kind: RecordKind, token: bigint, text = '', onlyAfter?: string): JournalRecord {
  count += 1;
  return { kind, token, id: `r${count}`, onlyAfter, payload: Buffer.from(text) };
}

function shown({ mark, content, writtenUnder, isSealed, lastChange }: JournalState): unknown {
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
    const state = new JournalState();

    expect(state.apply(record('write', 5n, 'a'))).toBe('counts');
    expect(state.apply(record('append', 5n, 'b'))).toBe('counts');
    expect(state.apply(record('append', 4n, 'x'))).toBe('stale');
    expect(state.apply(record('remove', 4n))).toBe('stale');
    expect(state.apply(record('append', 6n, 'c'))).toBe('counts');
    expect(shown(state)).toMatchObject({ mark: 6n, content: 'abc', writtenUnder: 6n });
  });

  it('is claimed without a change of the content', () => {
    const state = new JournalState();
    state.apply(record('write', 5n, 'a'));

    expect(state.apply(record('claim', 7n))).toBe('counts');
    expect(state.apply(record('write', 6n, 'late'))).toBe('stale');
    expect(shown(state)).toMatchObject({ mark: 7n, content: 'a', writtenUnder: 5n });
  });

  it('keeps the token of what is removed', () => {
    const state = new JournalState();
    state.apply(record('write', 5n, 'a'));
    state.apply(record('remove', 7n));

    expect(shown(state)).toMatchObject({ mark: 7n, content: undefined });
    expect(state.apply(record('append', 6n, 'late'))).toBe('stale');
    expect(state.apply(record('append', 7n, 'new'))).toBe('counts');
    expect(shown(state)).toMatchObject({ content: 'new' });
  });

  it('takes a conditional write only for the content that it was made for', () => {
    const state = new JournalState();
    const first = record('write', 5n, 'a');
    state.apply(first);
    state.apply(record('claim', 5n));

    expect(state.apply(record('write', 5n, 'b', first.id))).toBe('counts');
    expect(state.apply(record('write', 9n, 'c', first.id))).toBe('overtaken');
    expect(shown(state)).toMatchObject({ mark: 5n, content: 'b' });
  });

  it('is at its end behind a seal that counts', () => {
    const state = new JournalState();
    state.apply(record('write', 5n, 'a'));

    expect(state.apply(record('seal', 4n))).toBe('stale');
    expect(state.isSealed).toBe(false);
    expect(state.apply(record('seal', 5n))).toBe('counts');
    expect(state.apply(record('write', 9n, 'behind'))).toBe('sealed');
    expect(shown(state)).toMatchObject({ mark: 5n, content: 'a', isSealed: true });
  });

  it('never has a token go back, and a record that does not count changes nothing', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 30 }), (changes) => {
        const state = new JournalState();
        for (const change of changes) {
          const before = shown(state);
          const { mark } = state;
          const verdict = state.apply(change);
          expect(verdict).toBe(change.token < mark ? 'stale' : 'counts');
          expect(state.mark >= mark).toBe(true);
          if (verdict !== 'counts') expect(shown(state)).toEqual(before);
        }
      }),
    );
  });

  it('goes on in the next journal as it ended, at whatever record the first one is sealed', () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 12 }), fc.array(anyChange, { maxLength: 12 }), (first, second) => {
        const whole = new JournalState();
        for (const change of [...first, ...second]) whole.apply(change);
        const sealed = new JournalState();
        for (const change of first) sealed.apply(change);
        const next = new JournalState();
        expect(next.apply(sealed.toBase())).toBe('counts');
        expect(shown(next)).toEqual(shown(sealed));
        expect(encodeRecord(next.toBase())).toEqual(encodeRecord(sealed.toBase()));
        for (const change of second) next.apply(change);
        expect(shown(next)).toEqual(shown(whole));
      }),
      { numRuns: 300 },
    );
  });
});
