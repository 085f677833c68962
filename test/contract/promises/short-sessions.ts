import { describe, expect, it } from '@jest/globals';
import type { HarmableWorld } from '../worlds/contract-world.js';

export function shortSessionsContract(world: () => HarmableWorld): void {
  describe('a session of two ticks, the least that servers grant', () => {
    it('is never uncertain while it is held', async () => {
      const { tickMs } = world();
      const client = await (await world().open({ sessionTimeoutMs: 2 * tickMs })).whenUp();
      const since = client.session.certainSince();
      client.session.keepCertain();

      const endsAt = world().now() + 40 * tickMs;
      const doubtsAt: number[] = [];
      await world().until('that time has passed', () => {
        if (!client.isCertain) doubtsAt.push(world().now());
        return world().now() >= endsAt;
      });

      expect(client.identity.timeoutMs).toBe(2 * tickMs);
      expect(doubtsAt).toEqual([]);
      expect(client.session.certainSince()).toBe(since);
    });
  });
}
