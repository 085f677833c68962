import { describe, expect, it } from '@jest/globals';
import { runFixture } from './support/run-jest.js';

const SLOW_MS = 240_000;

describe('A spec of an application, in a Jest of its own', () => {
  it(
    'ends although it closes no module and keeps its locks, and Jest with it',
    async () => {
      const { code, output } = await runFixture('never-closed');

      expect(output).toMatch(/Tests: +3 passed, 3 total/);
      expect(output).not.toContain('did not exit');
      expect(code).toBe(0);
    },
    SLOW_MS,
  );

  it.each([
    ['modern', { enableGlobally: true }],
    ['legacy', { enableGlobally: true, legacyFakeTimers: true }],
  ])(
    'finds the stand-in at work under %s fake timers, its close included',
    async (_which, fakeTimers) => {
      const { code, output } = await runFixture('fake-timers', { fakeTimers });

      expect(output).toMatch(/Tests: +7 passed, 7 total/);
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
