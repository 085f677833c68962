import { describe, expect, it } from '@jest/globals';
import { create, exists, get, set, sync } from '../../../lib/session/requests.js';
import type { ContractClient } from '../worlds/contract-client.js';
import type { HarmableWorld } from '../worlds/contract-world.js';

const DATA = Buffer.from('data');

/** Asks again and again while time passes. */
async function whileTimePasses(
  world: HarmableWorld,
  durationMs: number,
  look: () => Promise<void> | void,
): Promise<void> {
  const endsAt = world.now() + durationMs;
  await world.until('that time has passed', async () => {
    await look();
    return world.now() >= endsAt;
  });
}

function writes(client: ContractClient, from: number): number {
  const isWrite = ({ op, at }: { op: string; at: number }): boolean => at >= from && (op === 'set' || op === 'create');
  return client.link.sent().filter(isWrite).length;
}

export function certaintyContract(world: () => HarmableWorld): void {
  const open = (): Promise<ContractClient> => world().open({ sessionTimeoutMs: world().shortTimeoutMs });

  describe('certainty', () => {
    it('comes with a new session, and ends before S has passed when nothing is written', async () => {
      const { shortTimeoutMs: timeoutMs } = world();
      const openedAt = world().now();
      const client = await (await open()).whenUp();
      expect(client.isCertain).toBe(true);
      expect(client.session.certainSince()).toBeGreaterThanOrEqual(openedAt);
      const { certainUntil } = client.log.changes.at(-1) ?? { certainUntil: Infinity };
      expect(certainUntil).toBeLessThan(client.session.certainSince() + timeoutMs);

      await whileTimePasses(world(), 1.5 * timeoutMs, async () => void (await client.ask(exists('/any'))));

      expect(client.session.certainUntil()).toBe(certainUntil);
      expect(client.isCertain).toBe(false);
      expect(client.log.states).toEqual(['connecting', 'connected']);
    });

    it('is kept by a session that is held, with about one write in each quarter of S', async () => {
      const { shortTimeoutMs: timeoutMs } = world();
      const client = await (await open()).whenUp();
      const since = client.session.certainSince();
      client.session.keepCertain();
      await world().pass(timeoutMs / 2);
      const from = world().now();
      const stalledBeforeMs = world().stalledMs;

      const doubts: number[] = [];
      let hadReason = false;
      await whileTimePasses(world(), 2.5 * timeoutMs, () => {
        if (world().stalledLatelyMs(timeoutMs) > timeoutMs / 8) hadReason = true;
        else if (!client.isCertain) doubts.push(world().now() - client.session.certainUntil());
      });

      expect(doubts).toEqual([]);
      if (!hadReason) expect(client.session.certainSince()).toBe(since);
      const elapsedMs = world().now() - from;
      const ranMs = elapsedMs - (world().stalledMs - stalledBeforeMs);
      const lateMs = world().isExact ? world().slackMs / 4 : timeoutMs / 16;
      expect(writes(client, from)).toBeGreaterThanOrEqual(Math.floor(ranMs / (timeoutMs / 4 + lateMs)) - 1);
      expect(writes(client, from)).toBeLessThanOrEqual(Math.ceil(elapsedMs / (timeoutMs / 4)) + 2);
    });

    it('costs an idle session no write, nor one that was let go, and a busy one none of its own', async () => {
      const { shortTimeoutMs: timeoutMs } = world();
      const clients = await Promise.all([open(), open(), open()]);
      for (const client of clients) await client.whenUp();
      const [idle, freed, busy] = clients;
      await busy.ask(create('/busy', 'persistent'));
      freed.session.keepCertain()();
      const letGo = [freed.session.keepCertain(), freed.session.keepCertain()];
      await world().until('it was held for long enough to write', () => writes(freed, 0) > 1);
      for (const release of letGo) {
        release();
        release();
      }
      busy.session.keepCertain();
      await busy.ask(set('/busy', DATA));
      const from = world().now();

      const others: { sentAt: number; answeredAt: number; certainMs: number }[] = [];
      await whileTimePasses(world(), 2 * timeoutMs, async () => {
        const sentAt = world().now();
        await busy.ask(set('/busy', DATA));
        const answeredAt = world().now();
        others.push({ sentAt, answeredAt, certainMs: busy.session.certainUntil() - answeredAt });
        if (world().stalledLatelyMs(timeoutMs) < timeoutMs / 8) expect(busy.isCertain).toBe(true);
      });

      // One may have been on its way already.
      expect(writes(freed, from)).toBeLessThanOrEqual(1);
      expect(writes(idle, from)).toBe(0);
      const own = busy.link.sent().filter(({ at, path }) => at >= from && path?.includes('/.sessions') === true);
      // Only a write that was answered spares it one of its own, and not while little certainty is left: a machine that is
      // busy itself may answer too late.
      const needless = own.filter(({ at }) =>
        others.some(
          ({ sentAt, answeredAt, certainMs }) =>
            answeredAt < at - timeoutMs / 16 &&
            sentAt > at - timeoutMs / 5 &&
            certainMs - (at - answeredAt) > timeoutMs / 4,
        ),
      );
      expect(needless).toEqual([]);
      expect(others.length).toBeGreaterThan(4);
    });

    it('can be asked for: proveLife resolves when the session is certain, with a write if that takes one', async () => {
      const { shortTimeoutMs: timeoutMs } = world();
      const client = await (await open()).whenUp();
      const since = client.session.certainSince();
      const before = client.link.sent().length;
      await world().settle(client.session.proveLife());
      expect(client.link.sent()).toHaveLength(before);
      await world().pass(1.2 * timeoutMs);
      expect(client.isCertain).toBe(false);
      const from = world().now();

      await world().settle(Promise.all([client.session.proveLife(), client.session.proveLife()]));

      expect(client.isCertain).toBe(true);
      expect(client.session.certainSince()).toBeGreaterThan(since + timeoutMs);
      expect(writes(client, from)).toBeGreaterThanOrEqual(1);
    });

    it('can be asked for some time ahead, and is refused where no write could prove so much', async () => {
      const { shortTimeoutMs: timeoutMs, tickMs } = world();
      const client = await (await open()).whenUp();
      const forMs = timeoutMs - tickMs - 400;
      await world().until('less than that is left', () => client.session.certainUntil() - world().now() < forMs);

      await world().settle(client.session.proveLife(forMs));

      // Judged a little later than it was promised.
      expect(client.session.certainUntil() - world().now()).toBeGreaterThan(forMs - world().slackMs);
      expect(await client.failureOf(client.session.proveLife(timeoutMs))).toMatchObject({ code: 'BAD_ARGUMENTS' });
    });

    it('cannot be had without a link: proveLife fails at once while it is down, and when it goes down', async () => {
      const { shortTimeoutMs: timeoutMs } = world();
      const client = await (await open()).whenUp();
      await world().pass(1.2 * timeoutMs);
      client.link.blackHole('to-client');
      expect(await client.failureOf(client.session.proveLife())).toMatchObject({ code: 'CONNECTION_LOSS' });
      await client.whenState('suspended');

      expect(await client.failureOf(client.session.proveLife())).toMatchObject({ code: 'NOT_CONNECTED' });
    });

    it('begins anew after a gap, although the session is the same', async () => {
      const { shortTimeoutMs: timeoutMs } = world();
      const client = await (await open()).whenUp();
      const before = { ...client.identity };
      const since = client.session.certainSince();
      await world().pass(1.2 * timeoutMs);

      await world().settle(client.session.proveLife());

      expect(client.session.certainSince()).toBeGreaterThan(since + timeoutMs);
      expect(client.session.certainSince()).toBeLessThanOrEqual(world().now());
      expect(client.identity).toEqual(before);
    });

    it('is not renewed by coming back to the session, only by a write after that', async () => {
      const { shortTimeoutMs: timeoutMs } = world();
      const client = await (await open()).whenUp();
      await world().pass(timeoutMs / 2);
      const until = client.session.certainUntil();

      await client.reconnect();
      await client.askAll([sync('/'), get('/')]);

      expect(client.session.certainUntil()).toBeLessThanOrEqual(until);
      await world().until('writes have renewed it', async () => {
        await client.askAll([create('/renewed', 'persistent'), set('/renewed', DATA)]);
        return client.session.certainUntil() > until;
      });
    });

    it('holds until certainUntil for a session that was just made, though nothing more is heard of it', async () => {
      const { shortTimeoutMs: timeoutMs } = world();
      const [client, other] = await Promise.all([open(), world().open()]);
      await other.whenUp();
      await client.whenUp();
      const watcher = other.watcher();
      await client.ask(create('/mine', 'ephemeral'));
      await other.askAll([sync('/mine'), exists('/mine', watcher)]);
      client.link.blackHole();
      const certainUntil = client.session.certainUntil();

      await world().until('the node is gone', () => watcher.told.length > 0);

      expect(certainUntil).toBeGreaterThan(client.session.certainSince() + timeoutMs / 2);
      expect(watcher.toldAt[0]).toBeGreaterThan(certainUntil);
    });
  });
}
