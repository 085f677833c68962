import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Finding, LockExamination } from '../../../../lib/extras/doctor/index.js';
import { LockDoctor } from '../../../../lib/extras/doctor/lock-doctor.js';
import { encodeContender } from '../../../../lib/queue/node-data.js';
import { contenderId, namePrefix } from '../../../../lib/queue/node-name.js';
import { create, remove, set } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { useEngine } from '../../engine/support/use-engine.js';

const SIX_MINUTES_MS = 360_000;

describe('examine', () => {
  const { engine, one, operator } = useEngine('one', 'operator');
  let doctor: LockDoctor;

  beforeEach(() => {
    doctor = new LockDoctor(operator.locks);
  });

  const examine = (): Promise<LockExamination> => engine.settle(doctor.examine());
  const found = async (kind: Finding['kind']) => (await examine()).findings.filter((finding) => finding.kind === kind);

  /** A place in a queue of somebody who does not know of it any more: its session lives by pings. */
  async function forgotten(key: string): Promise<string> {
    const facts = { owner: 'o', mode: 'exclusive', label: 'job', template: undefined } as const;
    const none = { leaseMs: undefined, lockDelayMs: undefined, holdMs: undefined };
    const data = encodeContender({ clientId: 'c', host: 'web-9', pid: 3 }, { ...facts, ...none });
    const id = contenderId('22222222-2222-4222-a222-222222222222');
    await engine.settle(operator.session.batch([create('/locks', 'container'), create(key, 'container')]));
    const request = create(`${key}/${namePrefix('exclusive', id)}`, 'ephemeral-sequential', data);
    return (await engine.settle(replyTo(operator.session, request))).path;
  }

  it('suspects an old hold whose session writes no heartbeat, and none whose session does', async () => {
    const path = await forgotten('/locks/forgotten');
    const lock = await engine.settle(one.locks.acquire('/locks/held'));
    await engine.runFor(SIX_MINUTES_MS);
    const [orphan, ...others] = await found('orphan');
    expect(others).toEqual([]);
    expect(orphan).toMatchObject({ severity: 'notice', key: '/locks/forgotten' });
    expect(orphan!.text).toContain(`${path} of job, web-9, pid 3 holds the lock`);
    expect(orphan!.text).toContain('has no heartbeat');
    expect((await found('long hold')).map(({ key }) => key)).toEqual(['/locks/forgotten', '/locks/held']);
    await engine.settle(lock.release());
    await engine.settle(replyTo(operator.session, remove(path)));
  });

  it('does not suspect the session of a process that makes contenders all the time', async () => {
    const path = await forgotten('/locks/forgotten');
    await engine.runFor(SIX_MINUTES_MS);
    const young = await forgotten('/locks/young');
    expect(await found('orphan')).toEqual([]);
    for (const node of [path, young]) await engine.settle(replyTo(operator.session, remove(node)));
  });

  it('tells of a queue whose numbers come to their end', async () => {
    await engine.settle((await engine.settle(one.locks.acquire('/locks/a'))).release());
    engine.faults.jumpSequence('/locks/a', 2_140_000_000);
    const lock = await engine.settle(one.locks.acquire('/locks/a'));
    expect(await found('sequence nearly full')).toMatchObject([
      { severity: 'critical', key: '/locks/a', text: expect.stringContaining('2140000001 of its 2147483648') },
    ]);
    await engine.settle(lock.release());
  });

  it('leaves out what the servers keep for themselves, and names nodes of a namespace by their whole paths', async () => {
    const make = (path: string, data = ''): Promise<unknown> =>
      engine.settle(replyTo(operator.session, create(path, 'persistent', Buffer.from(data))));
    const config = Buffer.from('server.1=zk1:2888:3888:participant');
    await engine.settle(replyTo(operator.session, set('/zookeeper/config', config)));
    expect((await examine()).findings).toEqual([]);
    const inside = await engine.client('inside', { namespace: '/app' }, { namespace: '/app' });
    await engine.settle((await engine.settle(inside.locks.acquire('/a'))).release());
    await make('/app/a/~drained', '{}');
    const { findings } = await engine.settle(new LockDoctor(inside.locks).examine());
    expect(findings).toMatchObject([{ kind: 'orphan', key: '/a' }]);
    expect(findings[0]!.advice).toContain("zkCli.sh delete '/app/a/~drained'");
  });

  it('names the namespace in lines to paste, which would mean the lock of another application without it', async () => {
    const inside = await engine.client('inside', { namespace: '/app' }, { namespace: '/app' });
    const lock = await engine.settle(inside.locks.acquire('/a'));
    const wait = inside.locks.acquire('/a', { reentrant: false });
    await engine.runFor(2_000);
    const { costliest, findings } = await engine.settle(new LockDoctor(inside.locks).examine({ longQueue: 0 }));
    expect(costliest[0]!.breakLine).toContain(`zk-lock break '/a' --namespace '/app' --token ${lock.fencingToken} `);
    expect(findings.map(({ advice }) => advice).join()).toContain("zk-lock drain '/a' --namespace '/app' --reason ");
    await engine.settle(lock.release());
    await engine.settle((await engine.settle(wait)).release());
  });

  it('survives JSON', async () => {
    const lock = await engine.settle(one.locks.acquire('/locks/a'));
    const wait = one.locks.acquire('/locks/a', { reentrant: false });
    await engine.runFor(2_000);
    const examination = await examine();
    const json = JSON.parse(JSON.stringify(examination)) as { at: string; costliest: { blocker: object }[] };
    expect(json.at).toBe(examination.at.toJSON());
    expect(json.costliest[0]!.blocker).toMatchObject({ fencingToken: String(lock.fencingToken) });
    await engine.settle(lock.release());
    await engine.settle((await engine.settle(wait)).release());
  });

  it('refuses options that make no sense', async () => {
    for (const options of [{ longHoldMs: -1 }, { longQueue: 'many' }, { lineOptions: '--connect zk1' }, { keep: 1 }])
      expect(await engine.failure(doctor.examine(options as object))).toMatchObject({ code: 'LOCK_CONFIGURATION' });
  });
});
