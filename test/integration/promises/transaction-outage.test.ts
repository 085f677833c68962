import { expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { eventually } from '../../support/process/eventually.js';

const OUTAGE_MS = 3_000;

/** The longest that a wait behind others lasts before it is taken for a deadlock is a fifth of this. */
const WAIT_MS = 15_000;

const stage = new LockStage();

it('A transaction bears an outage of 3 s in front of its second lock as acquire() does, 10 of 10, and runs once', async () => {
  const client = await stage.open({ sessionTimeoutMs: 10_000, waitMs: WAIT_MS });
  const key = stage.freshKey();
  let runs = 0;
  let firsts = 0;
  let goOn: () => void = () => undefined;
  const cut = new Promise<void>((resolve) => (goOn = resolve));
  const transactions = Array.from({ length: 10 }, (_, index) =>
    client.service.transaction(async (tx) => {
      runs += 1;
      await tx.lock(`${key}/${index}/first`);
      firsts += 1;
      await cut;
      const second = await tx.lock(`${key}/${index}/second`);
      return second.isHeld();
    }),
  );
  await eventually('all have their first lock', () => firsts === 10);
  await client.refuse();
  await client.untilState((state) => state === 'suspended');
  goOn();
  const alone = client.service.acquire(`${key}/alone`);
  await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
  await client.pass();
  expect((await alone).isHeld()).toBe(true);
  expect(await Promise.all(transactions)).toEqual(Array.from({ length: 10 }, () => true));
  expect(runs).toBe(10);
});
