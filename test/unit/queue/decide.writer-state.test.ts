import { describe, expect, it } from '@jest/globals';
import { writerState } from '../../../lib/queue/decide.js';
import { contenderId, namePrefix } from '../../../lib/queue/node-name.js';
import type { LockMode } from '../../../lib/lock/mode.js';

const [A, B] = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'].map(contenderId);

function node(mode: LockMode, id: string | undefined, sequence: number): string {
  return `${namePrefix(mode, id!)}${String(sequence).padStart(10, '0')}`;
}

describe('The state of a writer in its queue', () => {
  const first = node('exclusive', A, 1);
  const second = node('exclusive', B, 2);

  it('is that it holds where nobody blocks it, and waits otherwise', () => {
    expect(writerState([second, first], first)).toEqual({ kind: 'holds' });
    expect(writerState([second, first], second)).toEqual({ kind: 'waits', behind: first });
    expect(writerState([second, 'nested'], second)).toEqual({ kind: 'holds' });
  });

  it('is that it is none, for a reader, for what is no contender, and for what is not there', () => {
    for (const name of [node('read', A, 1), 'nested', 'data0000000001', first]) {
      expect(writerState(name === first ? [second] : [name], name)).toEqual({ kind: 'is no writer' });
    }
  });

  it('is that it holds, for an upgradeable lock, only with an intent of its own', () => {
    const upgradeable = node('upgradeable', A, 1);
    expect(writerState([upgradeable, node('write', B, 2)], upgradeable)).toEqual({ kind: 'is no writer' });
    expect(writerState([upgradeable, node('write', A, 2)], upgradeable)).toEqual({ kind: 'holds' });
  });
});
