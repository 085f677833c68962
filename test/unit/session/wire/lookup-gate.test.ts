import { describe, expect, it } from '@jest/globals';
import { LookupGate } from '../../../../lib/session/wire/name-resolver.js';
import { promisesSettled } from '../../support/manual-clock.js';

interface Lookup {
  readonly host: string;
  resolve(addresses: readonly string[]): void;
  reject(cause: Error): void;
}

/** A gate whose system answers when it is told to, and name servers that are silent for the names in `silentFor`. */
function setUp() {
  const lookups: Lookup[] = [];
  const silentFor = new Set<string>();
  const lookup = (host: string) =>
    new Promise<readonly string[]>((resolve, reject) => void lookups.push({ host, resolve, reject }));
  const speak = (host: string): Promise<void> =>
    silentFor.has(host) ? Promise.reject(new Error('silent')) : Promise.resolve();
  const gate = new LookupGate(lookup, speak);
  const ask = async (host: string) => {
    const asker = new AbortController();
    const told: string[] = [];
    gate.resolve(host, asker.signal).then(
      (addresses) => told.push(addresses.join(' ')),
      (cause: Error) => told.push(cause.message),
    );
    await promisesSettled();
    return { told, giveUp: () => asker.abort(new Error('given up')) };
  };
  const answer = (at: number, ...addresses: string[]): Promise<void> => {
    lookups[at]?.resolve(addresses);
    return promisesSettled();
  };
  const fail = (at: number, cause: string): Promise<void> => {
    lookups[at]?.reject(new Error(cause));
    return promisesSettled();
  };
  return { ask, answer, fail, silentFor, hosts: () => lookups.map(({ host }) => host) };
}

describe('The gate in front of the look-up of the system', () => {
  it('hands over what the system says', async () => {
    const { ask, answer } = setUp();
    const { told } = await ask('zk1');
    await answer(0, '10.0.0.1', '10.0.0.2');
    expect(told).toEqual(['10.0.0.1 10.0.0.2']);
  });

  it('asks the system again for each dial: servers move', async () => {
    const { ask, answer, hosts } = setUp();
    await ask('zk1');
    await answer(0, '10.0.0.1');
    const { told } = await ask('zk1');
    await answer(1, '10.0.0.2');
    expect([told, hosts()]).toEqual([['10.0.0.2'], ['zk1', 'zk1']]);
  });

  it('never lets the system wait for name servers that are silent: nobody could stop it', async () => {
    const { ask, silentFor, hosts } = setUp();
    silentFor.add('zk1');
    const { told } = await ask('zk1');
    expect([told, hosts()]).toEqual([['silent'], []]);
  });

  it('lets the other names through while the name servers are silent for one', async () => {
    const { ask, answer, silentFor } = setUp();
    silentFor.add('dead');
    await ask('dead');
    const { told } = await ask('zk2');
    await answer(0, '10.0.0.2');
    expect(told).toEqual(['10.0.0.2']);
  });

  it('lets one look-up at a time through, whatever hangs', async () => {
    const { ask, answer, fail, hosts } = setUp();
    const dead = await ask('dead');
    const other = await ask('zk2');
    expect(hosts()).toEqual(['dead']);

    await fail(0, 'timed out');
    expect([dead.told, hosts()]).toEqual([['timed out'], ['dead', 'zk2']]);
    await answer(1, '10.0.0.2');
    expect(other.told).toEqual(['10.0.0.2']);
  });

  it('shares one look-up among all who ask for the same name', async () => {
    const { ask, answer, hosts } = setUp();
    const askers = [await ask('zk1'), await ask('zk1')];
    await answer(0, '10.0.0.1');
    expect(hosts()).toEqual(['zk1']);
    expect(askers.map(({ told }) => told)).toEqual([['10.0.0.1'], ['10.0.0.1']]);
  });

  it('lets go at once of who gives up while a look-up hangs', async () => {
    const { ask, answer } = setUp();
    const { told, giveUp } = await ask('zk1');
    giveUp();
    await promisesSettled();
    expect(told).toEqual(['given up']);
    await answer(0, '10.0.0.1');
    expect(told).toEqual(['given up']);
  });

  it('looks up no name whose asker has gone while it waited for its turn', async () => {
    const { ask, answer, fail, hosts } = setUp();
    await ask('dead');
    const gone = await ask('zk2');
    const { told } = await ask('zk3');
    gone.giveUp();
    await fail(0, 'timed out');

    expect(hosts()).toEqual(['dead', 'zk3']);
    await answer(1, '10.0.0.3');
    expect(told).toEqual(['10.0.0.3']);
  });

  it('looks a name up again that was not looked up, as its first asker had gone', async () => {
    const { ask, answer, fail, hosts } = setUp();
    await ask('dead');
    (await ask('zk2')).giveUp();
    await fail(0, 'timed out');
    const { told } = await ask('zk2');
    await answer(1, '10.0.0.2');
    expect([told, hosts()]).toEqual([['10.0.0.2'], ['dead', 'zk2']]);
  });

  it('looks a name up that somebody still asks for, when another who did has gone', async () => {
    const { ask, answer, fail, hosts } = setUp();
    await ask('dead');
    const gone = await ask('zk2');
    const { told } = await ask('zk2');
    gone.giveUp();
    await fail(0, 'timed out');
    await answer(1, '10.0.0.2');
    expect([gone.told, told, hosts()]).toEqual([['given up'], ['10.0.0.2'], ['dead', 'zk2']]);
  });

  it('shares a look-up under way with who asks next, although nobody waits for it any more', async () => {
    const { ask, answer, hosts } = setUp();
    (await ask('zk1')).giveUp();
    const { told } = await ask('zk1');
    await answer(0, '10.0.0.1');
    expect([told, hosts()]).toEqual([['10.0.0.1'], ['zk1']]);
  });
});
