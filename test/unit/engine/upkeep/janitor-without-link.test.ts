import { describe, expect, it } from '@jest/globals';
import type { Janitor } from '../../../../lib/engine/upkeep/janitor.js';
import type { SessionErrorCode } from '../../../../lib/session/errors.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { janitorOf } from '../support/scripted-engine.js';
import { ScriptedSession } from '../support/scripted-session.js';

const AN_HOUR_MS = 3_600_000;

function given(answer: () => SessionErrorCode | undefined): { session: ScriptedSession; janitor: Janitor } {
  const session = new ScriptedSession();
  session.answer = answer;
  return { session, janitor: janitorOf(session.asSession, () => undefined) };
}

describe('The janitor without a link', () => {
  it('waits for the next link without a timer, and asks nobody meanwhile', async () => {
    const { session, janitor } = given(() => (session.state === 'reconnected' ? undefined : 'NOT_CONNECTED'));
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
    const { session, janitor } = given(() => 'CONNECTION_LOSS');
    void janitor.remove(['/locks/a/n']);
    session.state$.next('suspended');
    await promisesSettled();
    const tries = session.sent.length;
    session.state$.next('lost');
    await session.clock.advance(AN_HOUR_MS);
    expect([session.sent.length - tries, session.clock.timers]).toEqual([0, 0]);
  });

  it('does not go on with a pause that began while there was one', async () => {
    const { session, janitor } = given(() => (session.state === 'connected' ? 'THROTTLED' : 'NOT_CONNECTED'));
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
    const { session, janitor } = given(() => 'NO_AUTH');
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
