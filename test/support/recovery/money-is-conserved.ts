import { expect, it } from '@jest/globals';
import type { LockStage } from '../locks/lock-stage.js';
import { type Play, playKillRounds } from './kill-rounds.js';
import { TOTAL } from './till.js';

const WITHIN_MS = 900_000;

/** Declares the test, for as many processes as are to be killed. */
export function moneyIsConserved(stage: LockStage, play: Play): void {
  it(
    `lose no money, killed at ${play.rounds * play.recovering} random points, where the next one recovers, and do where it does not`,
    async () => {
      const { recovering, careless } = await playKillRounds(stage, play);

      expect(recovering.flatMap(({ sums }) => sums).filter((sum) => sum !== TOTAL)).toEqual([]);
      expect(careless.flatMap(({ sums }) => sums).filter((sum) => sum !== TOTAL).length).toBeGreaterThan(0);

      // Each death inside is followed by one recovery. Where the one that recovers dies inside as well, the next one recovers both.
      const verdicts = recovering.flatMap((till) => till.verdicts);
      const deaths = verdicts.filter(({ diedInside }) => diedInside).length;
      const recoveries = verdicts.filter(({ hasRecovered }) => hasRecovered).length;
      const cutShort = verdicts.filter(({ diedRecovering }) => diedRecovering).length;
      expect(recoveries + cutShort).toBe(deaths);
      // What makes the test worth its time: both kinds of death, and deaths outside, which call for nothing.
      expect(recoveries).toBeGreaterThan(play.recovering / 2);
      expect(cutShort).toBeGreaterThan(0);
      expect(deaths).toBeLessThan(play.rounds * play.recovering);
    },
    WITHIN_MS,
  );
}
