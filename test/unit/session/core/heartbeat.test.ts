import { describe, expect, it, jest } from '@jest/globals';
import { SessionError } from '../../../../lib/session/errors.js';
import { HeartbeatRig, S, TICK } from './heartbeat-rig.js';

const QUARTER = S / 4;

describe('The heartbeat of a session that holds something', () => {
  it('writes every quarter of S, and certainty never ends', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.exchange(true);
    rig.heartbeat.hold();
    for (let step = 0; step < 60; step += 1) {
      await rig.advance(1_000);
      expect(rig.isCertain).toBe(true);
    }
    expect(rig.writes.length).toBeGreaterThanOrEqual(60_000 / QUARTER - 2);
    expect(rig.writes.length).toBeLessThanOrEqual(60_000 / QUARTER + 1);
    // One sync vouches for each.
    expect(rig.syncs.length).toBeLessThanOrEqual(rig.writes.length);
    expect(rig.syncs.length).toBeGreaterThanOrEqual(rig.writes.length - 2);
  });

  it('costs a session that writes anyway no write and no sync', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.exchange(true);
    rig.heartbeat.hold();
    for (let step = 0; step < 60; step += 1) {
      await rig.advance(1_000);
      rig.exchange(true);
    }
    expect([rig.writes, rig.syncs]).toEqual([[], []]);
  });

  it('costs an idle session nothing, neither before nor after it holds', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    await rig.advance(3 * S);
    expect(rig.writes).toEqual([]);
    rig.exchange(true);
    rig.exchange(true);
    const letGo = rig.heartbeat.hold();
    letGo();
    await rig.advance(3 * S);
    expect([rig.writes, rig.syncs]).toEqual([[], []]);
  });

  it('sets no timer for each of many short holds, and is in time for the last, which is long', async () => {
    const rig = new HeartbeatRig();
    const setTimer = jest.spyOn(rig.clock, 'setTimer');
    rig.start();
    rig.exchange(true);
    for (let short = 0; short < 1_000; short += 1) rig.heartbeat.hold()();
    expect(setTimer).toHaveBeenCalledTimes(1);
    rig.heartbeat.hold();
    for (let step = 0; step < 30; step += 1) {
      await rig.advance(1_000);
      expect(rig.isCertain).toBe(true);
    }
  });

  it('goes on until the last of several holders lets go, each counted once', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.exchange(true);
    const first = rig.heartbeat.hold();
    const second = rig.heartbeat.hold();
    first();
    first();
    await rig.advance(S);
    const count = rig.writes.length;
    expect(count).toBeGreaterThan(0);
    second();
    await rig.advance(S);
    expect(rig.writes.length).toBe(count);
  });

  it('writes sooner when certainty is short and a write would gain some', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    await rig.advance(S - 1_500);
    rig.exchange();
    // The session's only write so far is just answered, but vouches for nothing new: its own creation is all that is proved.
    rig.heartbeat.answered(rig.clock.now(), 'committed');
    rig.heartbeat.hold();
    await rig.clock.advance(0);
    expect(rig.writtenAt).toEqual([S - 1_500]);
    await rig.clock.advance(rig.latencyMs);
    expect(rig.proof.certainUntil).toBe(S - 200);
    await rig.clock.advance(rig.latencyMs);
    expect(rig.proof.certainUntil).toBeGreaterThan(S);
  });

  it("has somebody else's last write vouched for once little certainty is left, with a sync and no write", async () => {
    const rig = new HeartbeatRig();
    rig.start();
    await rig.advance(S - 3_000);
    rig.exchange(true);
    rig.heartbeat.hold();
    expect([rig.writes, rig.syncs]).toEqual([[], []]);
    await rig.clock.advance(500 + rig.latencyMs);
    expect(rig.writes).toEqual([]);
    expect(rig.syncs).toEqual([{ at: S - 2_500 - 200, requests: ['sync /.sessions/0x1234'] }]);
    expect(rig.proof.certainUntil).toBeGreaterThan(S);
  });

  it('writes at once when the session was taken up again: until then less is certain than could be', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.exchange(true);
    rig.heartbeat.hold();
    rig.heartbeat.stop(new SessionError('CONNECTION_LOSS', 'cut'));
    await rig.clock.advance(1_000);
    const offeredAt = rig.clock.now();
    rig.proof.offered(offeredAt);
    rig.proof.attached(offeredAt, offeredAt, S);
    rig.start();
    expect(rig.writtenAt).toEqual([offeredAt]);
    await rig.clock.advance(rig.latencyMs);
    expect(rig.proof.certainUntil).toBe(offeredAt + S - 200);
  });

  it('does not ask again and again for a sync that the servers refuse', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.refuse = ({ op }) => (op === 'sync' ? 'THROTTLED' : undefined);
    await rig.advance(S - 3_000);
    rig.exchange(true);
    rig.heartbeat.hold();
    await rig.advance(2 * S);
    expect(rig.syncs.length).toBeLessThan(24);
  });

  it('has one write under way, not more', async () => {
    const rig = new HeartbeatRig();
    rig.latencyMs = S;
    rig.start();
    rig.heartbeat.hold();
    void rig.heartbeat.prove(0).catch(() => undefined);
    await rig.advance(S - 1);
    expect(rig.writes).toHaveLength(1);
  });

  it('stops with the link, starts again with it, and leaves no timer', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.exchange(true);
    rig.heartbeat.hold();
    expect(rig.clock.timers).toBe(1);
    rig.heartbeat.stop(new SessionError('CONNECTION_LOSS', 'cut'));
    expect(rig.clock.timers).toBe(0);
    await rig.advance(S);
    expect(rig.writes).toEqual([]);
    rig.start();
    expect(rig.writes).toHaveLength(1);
  });
});

describe('Who waits for a proof of life', () => {
  it('gets it with the first write that can prove it', async () => {
    const rig = new HeartbeatRig();
    await rig.advance(S + 1_000);
    expect(rig.isCertain).toBe(false);
    rig.start();
    const proved = rig.heartbeat.prove(0);
    await rig.clock.advance(rig.latencyMs);
    expect(rig.isCertain).toBe(false);
    await rig.clock.advance(rig.latencyMs);
    await proved;
    expect(rig.isCertain).toBe(true);
    expect(rig.writes).toHaveLength(1);
    expect(rig.syncs).toHaveLength(1);
  });

  it('waits for a request to become ripe when none is, and for an answer when there was none', async () => {
    const rig = new HeartbeatRig();
    rig.clock.block(S + 5_000);
    rig.start();
    const proved = rig.heartbeat.prove(0);
    await rig.clock.advance(500);
    expect(rig.writes).toEqual([]);
    rig.exchange();
    await rig.clock.advance(TICK - 1);
    expect(rig.writes).toEqual([]);
    await rig.clock.advance(1);
    expect(rig.writes).toHaveLength(1);
    await rig.clock.advance(2 * rig.latencyMs);
    await proved;
  });

  it('is served by a write of the session itself', async () => {
    const rig = new HeartbeatRig();
    rig.clock.block(S);
    rig.start();
    rig.exchange();
    const proved = rig.heartbeat.prove(0);
    await rig.clock.advance(TICK - 1);
    rig.clock.block(1);
    rig.exchange(true);
    await rig.clock.advance(rig.latencyMs);
    await proved;
    expect(rig.isCertain).toBe(true);
    await rig.clock.advance(S);
    expect(rig.writes).toEqual([]);
  });

  it('is told when the link goes away first', async () => {
    const rig = new HeartbeatRig();
    rig.clock.block(S);
    rig.start();
    const proved = rig.heartbeat.prove(0);
    rig.heartbeat.stop(new SessionError('SESSION_EXPIRED', 'over'));
    await expect(proved).rejects.toMatchObject({ code: 'SESSION_EXPIRED' });
    expect(rig.clock.timers).toBe(0);
  });
});

describe("The session's own node", () => {
  it('is made with its containers at the first beat, and written from then on', async () => {
    const rig = new HeartbeatRig('/app/locks');
    rig.start();
    rig.heartbeat.hold();
    await rig.advance(S);
    expect(rig.writes[0]?.requests).toEqual([
      'create /app',
      'create /app/locks',
      'create /app/locks/.sessions',
      'create /app/locks/.sessions/0x1234',
    ]);
    expect(rig.writes[1]?.requests).toEqual(['set /app/locks/.sessions/0x1234']);
  });

  it('is named by the unsigned id of the session', () => {
    const rig = new HeartbeatRig();
    rig.sessionId = -2n;
    rig.start();
    rig.heartbeat.hold();
    expect(rig.writes[0]?.requests).toContain('create /.sessions/0xfffffffffffffffe');
  });

  it('is as good as made where it is there already, after a lost reply', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.refuse = ({ op }) => (op === 'create' ? 'NODE_EXISTS' : undefined);
    rig.heartbeat.hold();
    await rig.advance(S);
    expect(rig.writes[1]?.requests).toEqual(['set /.sessions/0x1234']);
    expect(rig.isCertain).toBe(true);
  });

  it('is made again when somebody deleted it', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.heartbeat.hold();
    await rig.advance(TICK);
    rig.refuse = ({ op }) => (op === 'set' ? 'NO_NODE' : undefined);
    await rig.advance(S);
    expect(rig.writes[1]?.requests).toEqual(['set /.sessions/0x1234']);
    expect(rig.writes[2]?.requests.at(-1)).toBe('create /.sessions/0x1234');
    expect(rig.isCertain).toBe(true);
  });

  it('is made anew for a new session', async () => {
    const rig = new HeartbeatRig();
    rig.start();
    rig.heartbeat.hold();
    await rig.advance(TICK);
    rig.heartbeat.stop(new SessionError('SESSION_EXPIRED', 'over'));
    rig.sessionId = 0x5678n;
    await rig.clock.advance(S);
    rig.start();
    expect(rig.writes.at(-1)?.requests.at(-1)).toBe('create /.sessions/0x5678');
  });
});
