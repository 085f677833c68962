import { describe, expect, it } from '@jest/globals';
import { KeyQueues } from '../../../../lib/engine/acquire/key-queues.js';
import type { Place } from '../../../../lib/engine/contender.js';
import { Timers } from '../../../../lib/engine/timers.js';
import { LinkState } from '../../../../lib/engine/upkeep/link-state.js';
import { ScriptedSession } from '../support/scripted-session.js';

const KEY = { key: '/locks/a', queuePath: '/locks/a' };

function given(): KeyQueues {
  const session = new ScriptedSession().asSession;
  return new KeyQueues(session, new LinkState(session), new Timers(session.clock));
}

function place(): Place {
  const request = { ...KEY, mode: 'exclusive', owner: 'one', options: {}, askedAt: 0, usesRecord: false } as const;
  return { request, id: 'one' };
}

describe('The queues of a process', () => {
  it('keep one in which a contender is being created, also when the creation of another one is told to have ended twice', () => {
    const queues = given();
    const queue = queues.of(KEY);
    const [endFirst, endSecond] = [queues.creating(queue, place()), queues.creating(queue, place())];
    endFirst();
    endFirst();
    expect(queues.find(KEY.queuePath)).toBe(queue);
    endSecond();
    expect(queues.find(KEY.queuePath)).toBeUndefined();
  });

  it('tell a newcomer to list behind its create while few are being created, and later while there are many', () => {
    const queues = given();
    const ends = Array.from({ length: 16 }, (_, index) => {
      const { lists } = queues
        .of({ key: `/locks/${index}`, queuePath: `/locks/${index}` })
        .readsBehindCreate(queues.createsMany);
      expect(lists).toBe(true);
      return queues.creating(queues.of({ key: `/locks/${index}`, queuePath: `/locks/${index}` }), place());
    });
    expect(queues.of(KEY).readsBehindCreate(queues.createsMany).lists).toBe(false);
    for (const end of ends) end();
    expect(queues.of(KEY).readsBehindCreate(queues.createsMany).lists).toBe(true);
  });
});
