import { createHook } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, filter } from 'rxjs';
import { systemClock } from '../../../../lib/lock/clock.js';
import { SessionClient } from '../../../../lib/session/core/session-client.js';
import type { ConnectionState } from '../../../../lib/session/connection-state.js';
import { EmbeddedEnsemble } from '../../../../lib/session/simulator/embedded.js';

function open(ensemble: EmbeddedEnsemble, sessionTimeoutMs = 10_000): SessionClient {
  const settings = {
    servers: ensemble.servers,
    chroot: '',
    sessionTimeoutMs,
    serverTickMs: sessionTimeoutMs / 5,
    namespace: '',
    auth: [],
    acl: [],
    clock: systemClock,
    random: Math.random,
  };
  return new SessionClient(settings, ensemble.dialer());
}

async function until(session: SessionClient, state: ConnectionState): Promise<void> {
  await firstValueFrom(session.state$.pipe(filter((current) => current === state)));
}

describe('the entrances of an embedded ensemble', () => {
  it('refuse those who come in there, and nobody else', async () => {
    const entrance = new EmbeddedEnsemble();
    const [one, other] = [open(entrance), open(entrance.secondEntrance())];
    await Promise.all([until(one, 'connected'), until(other, 'connected')]);
    const { identity } = one;

    entrance.refuse();
    await until(one, 'suspended');
    const newcomer = open(entrance);
    expect(other.state).toBe('connected');

    entrance.accept();
    await Promise.all([until(one, 'reconnected'), until(newcomer, 'connected')]);
    expect(one.identity).toBe(identity);
    await Promise.all([one.close(), other.close(), newcomer.close()]);
  });

  it('end the sessions of those who came in there, and of nobody else', async () => {
    const entrance = new EmbeddedEnsemble();
    const [one, other] = [open(entrance), open(entrance.secondEntrance())];
    await Promise.all([until(one, 'connected'), until(other, 'connected')]);
    const identity = one.identity!;
    expect(entrance.sessionIds).toEqual([identity.id]);

    entrance.expire();
    await until(one, 'lost');
    await until(one, 'reconnected');
    expect(one.identity!.id).not.toBe(identity.id);
    expect(other.state).toBe('connected');

    await Promise.all([one.close(), other.close()]);
    expect(entrance.sessionIds).toEqual([]);
  });

  it('serve nobody once the ensemble has stopped', async () => {
    const entrance = new EmbeddedEnsemble();
    const session = open(entrance);
    await until(session, 'connected');

    entrance.stop();
    await until(session, 'suspended');
    await session.close(0);
  });

  it('leave no timer once the ensemble has stopped', async () => {
    const [ours, timers] = [new Set<number>(), new Set<number>()];
    let isAtWork = true;
    const hook = createHook({
      init: (id, type, trigger) => {
        // Other ensembles of this process, which live on, set timers too while this test waits.
        if (!isAtWork && !ours.has(trigger)) return;
        ours.add(id);
        if (type === 'Timeout') timers.add(id);
      },
      destroy: (id) => void timers.delete(id),
    }).enable();
    const entrance = new EmbeddedEnsemble();
    expect(timers.size).toBeGreaterThan(0);
    entrance.stop();
    isAtWork = false;
    // The hook is told of what is gone in a later turn.
    await nextTurn();
    await nextTurn();
    hook.disable();
    expect([...timers]).toEqual([]);
  });

  it('grant sessions by the tick they were given', async () => {
    const session = open(new EmbeddedEnsemble({ tickMs: 20 }), 300);
    await until(session, 'connected');

    expect(session.identity?.timeoutMs).toBe(300);
    await session.close();
  });
});
