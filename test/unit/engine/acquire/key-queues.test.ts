import { describe, expect, it } from '@jest/globals';
import { KeyQueues } from '../../../../lib/engine/acquire/key-queues.js';
import { Timers } from '../../../../lib/engine/timers.js';
import { LinkState } from '../../../../lib/engine/upkeep/link-state.js';
import { ScriptedSession } from '../support/scripted-session.js';

const KEY = { key: '/locks/a', queuePath: '/locks/a' };

function given(): KeyQueues {
  const session = new ScriptedSession().asSession;
  return new KeyQueues(session, new LinkState(session), new Timers(session.clock));
}

const REQUEST = { ...KEY, mode: 'exclusive', owner: 'one', options: {}, askedAt: 0, usesRecord: false } as const;

describe('The queues of a process', () => {
  it('keep one in which a contender is being created, also when the creation of another one is told to have ended twice', () => {
    const queues = given();
    const queue = queues.of(KEY);
    const [first, second] = [queues.creating(queue, REQUEST, 'one'), queues.creating(queue, REQUEST, 'two')];
    first.end();
    first.end();
    expect(queues.find(KEY.queuePath)).toBe(queue);
    second.end();
    expect(queues.find(KEY.queuePath)).toBeUndefined();
  });

  it('tell a newcomer to list behind its create while few are being created, and later while there are many', () => {
    const queues = given();
    const creations = Array.from({ length: 16 }, (_, index) => {
      const { lists } = queues
        .of({ key: `/locks/${index}`, queuePath: `/locks/${index}` })
        .readsBehindCreate(REQUEST, queues.createsMany);
      expect(lists).toBe(true);
      return queues.creating(queues.of({ key: `/locks/${index}`, queuePath: `/locks/${index}` }), REQUEST, 'one');
    });
    expect(queues.of(KEY).readsBehindCreate(REQUEST, queues.createsMany).lists).toBe(false);
    for (const creation of creations) creation.end();
    expect(queues.of(KEY).readsBehindCreate(REQUEST, queues.createsMany).lists).toBe(true);
  });
});
