import { describe, expect, it } from '@jest/globals';
import type { CallScope } from '../../../../lib/engine/bounds/call-scope.js';
import { LinkState } from '../../../../lib/engine/upkeep/link-state.js';
import { LockClosedError, LockTimeoutError } from '../../../../lib/lock/errors.js';
import { rejection } from '../support/engine-world.js';
import { openScope } from '../support/scripted-engine.js';
import { ScriptedSession } from '../support/scripted-session.js';

describe('the state of the link', () => {
  const given = (): { session: ScriptedSession; link: LinkState; scope: () => CallScope } => {
    const session = new ScriptedSession();
    const link = new LinkState(session.asSession);
    return { session, link, scope: () => openScope({ clock: session.clock, link }) };
  };

  it('resolves at once while the link is up, and for all who wait when it comes back', async () => {
    const { session, link, scope } = given();
    await link.whenUp(scope());
    session.state$.next('suspended');
    const waiting = [link.whenUp(scope()), link.whenUp(scope())];
    session.state$.next('lost');
    session.state$.next('reconnected');
    await Promise.all(waiting);
    session.state$.next('suspended');
    const again = link.whenUp(scope());
    session.state$.next('reconnected');
    await again;
  });

  it('rejects for all who wait, and who ask later, when the session is closed', async () => {
    const { session, link, scope } = given();
    session.state$.next('suspended');
    const waiting = rejection(link.whenUp(scope()));
    session.state$.next('closed');
    expect(await waiting).toBeInstanceOf(LockClosedError);
    expect(await rejection(link.whenUp(scope()))).toBeInstanceOf(LockClosedError);
  });

  it('rejects for the call that is ended, also when it is up', async () => {
    const { session, link, scope } = given();
    const ended = scope();
    session.state$.next('suspended');
    const waiting = rejection(link.whenUp(ended));
    const reason = new LockTimeoutError('too late');
    ended.end(reason);
    session.state$.next('reconnected');
    expect(await waiting).toBe(reason);
    expect(await rejection(link.whenUp(ended))).toBe(reason);
  });

  it('tells every change to those who listen, until they stop', () => {
    const { session, link } = given();
    const heard: string[] = [];
    const stop = link.onChange('calls', (state) => heard.push(state));
    session.state$.next('suspended');
    stop();
    session.state$.next('reconnected');
    expect(heard).toEqual(['suspended']);
  });

  it('tells of a change in a fixed order, whoever began to listen first', () => {
    const { session, link } = given();
    const heard: string[] = [];
    for (const hearer of ['calls', 'contenders', 'holders', 'leftovers'] as const)
      link.onChange(hearer, () => heard.push(hearer));
    session.state$.next('suspended');
    expect(heard).toEqual(['leftovers', 'holders', 'contenders', 'calls']);
  });
});
