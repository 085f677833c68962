import { describe, expect, it } from '@jest/globals';
import { notRemoved } from '../../../../lib/engine/error-texts.js';
import type { Janitor } from '../../../../lib/engine/upkeep/janitor.js';
import { ZookeeperLockService } from '../../../../lib/engine/zookeeper-lock-service.js';
import { LockConfigurationError, LockUnavailableError } from '../../../../lib/lock/errors.js';
import type { LockEvent } from '../../../../lib/lock/events.js';
import { SessionError, type SessionErrorCode } from '../../../../lib/session/errors.js';
import { create } from '../../../../lib/session/requests.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { type Client, engineSettings, EngineWorld, typesOf } from '../support/engine-world.js';
import { janitorOf } from '../support/scripted-engine.js';
import { ScriptedSession } from '../support/scripted-session.js';

const QUEUE = '/locks/a';

const notRefused = (path: string): void => {
  throw new Error(`Nobody refused to remove ${path}`);
};

async function given(): Promise<{ engine: EngineWorld; one: Client; janitor: Janitor; paths: string[] }> {
  const engine = new EngineWorld();
  const one = await engine.client('one');
  await engine.settle(one.session.batch([create('/locks', 'container'), create(QUEUE, 'container')]));
  const nodes = ['marker-lock-0000000001', 'marker-lock-0000000002', 'other'].map((name) =>
    create(`${QUEUE}/${name}`, 'ephemeral'),
  );
  await engine.settle(one.session.batch(nodes));
  const janitor = janitorOf(one.session, notRefused);
  return { engine, one, janitor, paths: nodes.map(({ path }) => path) };
}

describe('the janitor', () => {
  it('removes what it is told, and is idle before and after', async () => {
    const { engine, janitor, paths } = await given();
    expect(janitor.isIdle).toBe(true);
    const removed = janitor.remove([paths[0]!]).done;
    expect(janitor.isIdle).toBe(false);
    await engine.settle(removed);
    expect([janitor.isIdle, engine.queue(QUEUE)]).toEqual([true, ['marker-lock-0000000002', 'other']]);
    await engine.settle(janitor.idle());
    await engine.end();
  });

  it('sweeps what carries the marker, and nothing else', async () => {
    const { engine, janitor } = await given();
    await engine.settle(janitor.sweep(QUEUE, 'marker'));
    expect(engine.queue(QUEUE)).toEqual(['other']);
    await engine.settle(janitor.sweep('/locks/never/was', 'marker'));
    await engine.end();
  });

  it('repeats a removal whose answer was lost, or that never left, when the link is back', async () => {
    const { engine, one, janitor, paths } = await given();
    engine.faults.loseReplyOfNext(one.process, 'delete');
    engine.faults.loseNextRequest(one.process, 'delete');
    await engine.settle(Promise.all([janitor.remove([paths[0]!]).done, janitor.remove([paths[1]!]).done]));
    expect([janitor.isIdle, engine.queue(QUEUE)]).toEqual([true, ['other']]);
    await engine.end();
  });

  it('keeps what it is told while cut off, over any number of links, and does it in the end', async () => {
    const { engine, one, janitor, paths } = await given();
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    const removed = Promise.all([janitor.remove([paths[0]!, paths[1]!]).done, janitor.sweep(QUEUE, 'other')]);
    await engine.runFor(1_000);
    expect([janitor.isIdle, engine.queue(QUEUE).length]).toEqual([false, 3]);
    const cuts = [1, 2, 3].map(() => engine.faults.loseNextRequest(one.process, 'multi'));
    engine.faults.accept(one.process);
    await engine.settle(removed);
    expect(cuts.map(({ hasHappened }) => hasHappened)).toEqual([true, true, true]);
    expect(engine.queue(QUEUE)).toEqual([]);
    await engine.end();
  });

  it('removes the others when one of several is gone already', async () => {
    const { engine, janitor, paths } = await given();
    await engine.settle(janitor.remove([paths[0]!]).done);
    await engine.settle(janitor.remove([paths[0]!, paths[1]!, paths[2]!]).done);
    expect(engine.queue(QUEUE)).toEqual([]);
    await engine.end();
  });

  it('tries again on the same link when the server was too busy', async () => {
    const session = new ScriptedSession();
    const janitor = janitorOf(session.asSession, notRefused);
    session.answer = () => (session.sent.length < 3 ? 'THROTTLED' : undefined);
    let done = false;
    void janitor.remove(['/locks/a/n']).done.then(() => (done = true));
    await session.clock.advance(10_000);
    expect([done, janitor.isIdle, session.sent.length, session.clock.timers]).toEqual([true, true, 3, 0]);
  });

  it('tells once of a node that the servers refuse to remove, and tries again until they do, ever more seldom', async () => {
    const session = new ScriptedSession();
    const told: string[] = [];
    const janitor = janitorOf(session.asSession, (path, error) => told.push(`${path} ${error.code}`));
    let isMended = false;
    session.answer = (request) =>
      (request as { path: string }).path === '/locks/a/free' ? 'NO_NODE' : isMended ? undefined : 'NO_AUTH';
    let done = false;
    void janitor.remove(['/locks/a/free', '/locks/a/kept']).done.then(() => (done = true));
    await session.clock.advance(60_000);
    const tries = session.sent.length;
    expect([told, done, janitor.isIdle]).toEqual([['/locks/a/kept NO_AUTH'], false, false]);
    await session.clock.advance(600_000);
    expect(session.sent.length - tries).toBeLessThanOrEqual(20 * 3);
    isMended = true;
    await session.clock.advance(30_000);
    expect([told.length, done, janitor.isIdle, session.clock.timers]).toEqual([1, true, true, 0]);
  });

  it('tries at once on a new link what the servers refused, and leaves no timer when the session is closed', async () => {
    const session = new ScriptedSession();
    const janitor = janitorOf(session.asSession, () => undefined);
    session.answer = () => 'NO_AUTH';
    let done = false;
    void janitor.remove(['/locks/a/kept']).done.then(() => (done = true));
    await session.clock.advance(60_000);
    const tries = session.sent.length;
    session.state$.next('suspended');
    session.state$.next('reconnected');
    await promisesSettled();
    expect([session.sent.length - tries, session.clock.timers, done]).toEqual([1, 1, false]);
    session.state$.next('closed');
    await promisesSettled();
    expect([session.clock.timers, done, janitor.isIdle]).toEqual([0, true, true]);
  });

  it('has nothing left to wait for once the session is closed, before or after it was told', async () => {
    const session = new ScriptedSession();
    const janitor = janitorOf(session.asSession, notRefused);
    session.answer = () => 'CLOSED';
    const ended: string[] = [];
    void janitor.remove(['/locks/a/before']).done.then(() => ended.push('before'));
    await promisesSettled();
    session.state$.next('closed');
    void janitor.remove(['/locks/a/after']).done.then(() => ended.push('after'));
    await promisesSettled();
    expect([ended, janitor.isIdle]).toEqual([['before', 'after'], true]);
  });
});

const AN_HOUR_MS = 3_600_000;

function scripted(answer: () => SessionErrorCode | undefined): { session: ScriptedSession; janitor: Janitor } {
  const session = new ScriptedSession();
  session.answer = answer;
  return { session, janitor: janitorOf(session.asSession, () => undefined) };
}

describe('The janitor without a link', () => {
  it('waits for the next link without a timer, and asks nobody meanwhile', async () => {
    const { session, janitor } = scripted(() => (session.state === 'reconnected' ? undefined : 'NOT_CONNECTED'));
    session.state$.next('suspended');
    let done = 0;
    for (let count = 0; count < 20; count += 1) void janitor.remove([`/locks/a/${count}`]).done.then(() => (done += 1));
    void janitor.sweep('/locks/b', 'marker').then(() => (done += 1));
    await promisesSettled();
    const tries = session.sent.length;
    await session.clock.advance(AN_HOUR_MS);
    expect([session.sent.length - tries, session.clock.timers, done]).toEqual([0, 0, 0]);
    session.answer = ({ op }) => (op === 'list' ? 'NO_NODE' : undefined);
    session.state$.next('reconnected');
    await promisesSettled();
    expect([done, janitor.isIdle, session.clock.timers]).toEqual([21, true, 0]);
  });

  it('is not started by the end of a link either, nor by its way from suspended to lost', async () => {
    const { session, janitor } = scripted(() => 'CONNECTION_LOSS');
    void janitor.remove(['/locks/a/n']);
    session.state$.next('suspended');
    await promisesSettled();
    const tries = session.sent.length;
    session.state$.next('lost');
    await session.clock.advance(AN_HOUR_MS);
    expect([session.sent.length - tries, session.clock.timers]).toEqual([0, 0]);
  });

  it('does not go on with a pause that began while there was one', async () => {
    const { session, janitor } = scripted(() => (session.state === 'connected' ? 'THROTTLED' : 'NOT_CONNECTED'));
    void janitor.remove(['/locks/a/n']);
    await promisesSettled();
    expect(session.clock.timers).toBe(1);
    const tries = session.sent.length;
    session.state$.next('suspended');
    await session.clock.advance(AN_HOUR_MS);
    // The pause that was running may still end, once.
    expect(session.sent.length - tries).toBeLessThanOrEqual(1);
    expect(session.clock.timers).toBe(0);
  });

  it('lets go of the pause after a refusal when a new link makes it try: one try at a time', async () => {
    const { session, janitor } = scripted(() => 'NO_AUTH');
    void janitor.remove(['/locks/a/n']);
    await promisesSettled();
    expect(session.clock.timers).toBe(1);
    let tries = 0;
    session.batch = () => {
      tries += 1;
      return new Promise(() => undefined);
    };
    session.state$.next('suspended');
    session.state$.next('reconnected');
    await session.clock.advance(AN_HOUR_MS);
    expect([tries, session.clock.timers]).toEqual([1, 0]);
  });
});

const NOT_DELETE = 1 | 2 | 4;

describe('A node that the servers refuse to remove', () => {
  it('is an event with the error that says why, and goes with the session', async () => {
    const engine = new EngineWorld();
    const process = engine.world.process('one');
    const session = engine.session(process, { acl: [{ permissions: NOT_DELETE, scheme: 'world', id: 'anyone' }] });
    // The virtual clock decides how long the release waits for a removal that never comes.
    const locks = new ZookeeperLockService(session, engineSettings(process, { namespace: '/app', waitMs: 50 }));
    const events: LockEvent[] = [];
    locks.events$.subscribe((event) => events.push(event));
    await engine.runUntil(() => session.state === 'connected');
    const lock = await engine.settle(locks.acquire('/locks/a', { mode: 'write' }));
    await engine.settle(lock.release(), 100);
    expect(typesOf(events)).toEqual(['acquired', 'released', 'not-removed']);
    const event = events.at(-1) as Extract<LockEvent, { type: 'not-removed' }>;
    expect(event).toMatchObject({ key: '/locks/a', mode: 'write', nodePath: lock.nodePath });
    expect(event.error).toBeInstanceOf(LockConfigurationError);
    expect(event.error.details).toContain('DELETE');

    const other = await engine.client('other', { namespace: '/app' });
    expect(await engine.settle(other.locks.tryAcquire('/locks/a'))).toBeUndefined();
    await engine.settle(locks.close(0));
    expect(await engine.settle(other.locks.tryAcquire('/locks/a'))).toBeDefined();
    await engine.end();
  });

  it('is no matter of configuration where the servers say nothing of rights', () => {
    const path = '/locks/a/_c_0b1c2d3e-0000-8000-8000-000000000001-__READ__0000000007';
    const event = notRemoved('', path, new SessionError('SERVER_ERROR', 'scripted', path));
    expect(event).toMatchObject({ type: 'not-removed', key: '/locks/a', mode: 'read', nodePath: path });
    expect((event as { error: Error }).error).toBeInstanceOf(LockUnavailableError);
  });
});
