import { describe, expect, it } from '@jest/globals';
import { type Done, DoneNotes } from '../../../../lib/extras/dashboard/done-notes.js';

const NOON_MS = Date.UTC(2026, 1, 3, 12);
const MINUTE_MS = 60_000;
const KEY = '/locks/a b&c=d';

function parametersOf(address: string): URLSearchParams {
  expect(address).toMatch(/^lock\?/);
  return new URL(address, 'http://localhost').searchParams;
}

describe('What was done, in an address', () => {
  let now = NOON_MS;
  const notes = new DoneNotes(() => now);

  it.each<Done>([
    { what: 'in order' },
    { what: 'removed by force' },
    { what: 'drained', count: 4 },
    { what: 'cleared' },
  ])('is read as it was written, for five minutes: %j', (done) => {
    now = NOON_MS;
    const parameters = parametersOf(notes.addressFor(KEY, done));
    expect(parameters.get('key')).toBe(KEY);
    // The clock of a machine may be set back a little at any time.
    now = NOON_MS - 2;
    expect(notes.read(parameters)).toEqual({ ...done, at: new Date(NOON_MS) });
    now = NOON_MS + 5 * MINUTE_MS;
    expect(notes.read(parameters)).toEqual({ ...done, at: new Date(NOON_MS) });
    now += 1;
    expect(notes.read(parameters)).toBeUndefined();
  });

  it.each<Record<string, string | undefined>>([
    { key: '/locks/other' },
    { done: 'in order' },
    { count: '5' },
    { count: undefined },
    { at: String(NOON_MS + MINUTE_MS) },
    { proof: '' },
    { proof: 'x'.repeat(43) },
    { proof: '\u00e9'.repeat(43) },
    { proof: undefined },
  ])('is not believed where somebody has changed it: %j', (change) => {
    now = NOON_MS;
    const parameters = parametersOf(notes.addressFor(KEY, { what: 'drained', count: 4 }));
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined) parameters.delete(name);
      else parameters.set(name, value);
    }
    expect(notes.read(parameters)).toBeUndefined();
  });

  it('is not believed where another process has written it, or this one before a restart', () => {
    now = NOON_MS;
    const parameters = parametersOf(new DoneNotes(() => now).addressFor(KEY, { what: 'cleared' }));
    expect(notes.read(parameters)).toBeUndefined();
  });

  it('is not believed long before it was done: the clock was put back', () => {
    now = NOON_MS;
    const parameters = parametersOf(notes.addressFor(KEY, { what: 'cleared' }));
    now = NOON_MS - 5 * MINUTE_MS - 1;
    expect(notes.read(parameters)).toBeUndefined();
  });
});
