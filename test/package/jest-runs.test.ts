import { describe, expect, it } from '@jest/globals';
import { runFixture } from './support/run-jest.js';

const SLOW_MS = 240_000;

describe('A spec of an application, in a Jest of its own', () => {
  it.each([
    ['modern', { enableGlobally: true }],
    ['legacy', { enableGlobally: true, legacyFakeTimers: true }],
  ])(
    'finds the stand-in at work under %s fake timers, its close included',
    async (_which, fakeTimers) => {
      const { code, output } = await runFixture('fake-timers', { fakeTimers });

      expect(output).toMatch(/Tests: +5 passed, 5 total/);
      expect(code).toBe(0);
    },
    SLOW_MS,
  );

  it(
    'sees its cron job run under the lock by fake timers',
    async () => {
      const { code, output } = await runFixture('cron');

      expect(output).toMatch(/Tests: +1 passed, 1 total/);
      expect(code).toBe(0);
    },
    SLOW_MS,
  );
});
