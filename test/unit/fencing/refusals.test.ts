import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as refusals from '../../../lib/fencing/refusals.js';
import type { LockError } from '../../../lib/lock/errors.js';

const KEY = '/locks/a';
const place = { key: KEY, nodePath: `${KEY}/__lock__0000000001`, token: 7n };

function thrownBy(run: () => void): LockError {
  try {
    run();
  } catch (error) {
    return error as LockError;
  }
  throw new Error('It threw nothing');
}

const TABLE: Record<string, { readonly code: string; readonly status: number; readonly errors: LockError[] }> = {
  'no token at all': {
    code: 'FENCING_TOKEN_REQUIRED',
    status: 428,
    errors: [refusals.tokenMissing(KEY, true)],
  },
  'what proves no right to write': {
    code: 'INVALID_FENCING_TOKEN',
    status: 403,
    errors: [
      refusals.severalTokens(KEY),
      refusals.malformedToken('seven', KEY),
      refusals.unsignedToken(KEY),
      refusals.wrongSignedToken(KEY, 'has a bad signature'),
      refusals.signedByReader(KEY, 'read', '/a'),
      refusals.ticketOfAnotherLock('/locks/b', '/a', KEY),
      // An application without types may give anything for the key.
      refusals.ticketOfAnotherLock('/locks/b', '/a', 7 as unknown as string),
      refusals.wrongSignedToken(7 as unknown as string, 'is of another lock'),
      refusals.ticketOfNoPlace(KEY, '/elsewhere', `${KEY}/`),
      refusals.ticketOfAnotherNode(place),
      refusals.ticketOfReader(place, '/a'),
      refusals.ticketOfWaiter(place, '/a'),
    ],
  },
  'the token of a lock that is over': {
    code: 'STALE_FENCING_TOKEN',
    status: 409,
    errors: [
      refusals.staleToken('/a', 6n, 7n),
      refusals.lockIsOver(place, '/a', false),
      refusals.lockIsOver(place, '/a', true),
    ],
  },
  'a handle that is for something else': {
    code: 'LOCK_CONFIGURATION',
    status: 500,
    errors: [
      refusals.handleOfAnotherLock(KEY, '/a', '/locks/b'),
      refusals.handleOfSeveralLocks([KEY, '/locks/b'], '/a'),
      thrownBy(() => refusals.assertMayWrite({ key: KEY, mode: 'read' }, { to: '/a' })),
    ],
  },
};

describe('the refusals of writers', () => {
  it.each(Object.entries(TABLE))('answer %s with one code and one status', (_, { code, status, errors }) => {
    for (const error of errors) expect(error).toMatchObject({ code, status });
  });

  it('are made in one file, from which every store and the guard of HTTP routes take them', () => {
    const room = join(import.meta.dirname, '..', '..', '..', 'lib', 'fencing');
    const files = readdirSync(room, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const making = files.filter((name) =>
      /new (Stale|Invalid)FencingTokenError\(|new FencingTokenRequiredError\(/.test(
        readFileSync(join(room, name), 'utf8'),
      ),
    );
    expect(making).toEqual(['refusals.ts']);
  });

  it('say of a lost answer that the write may have been carried out', () => {
    expect(refusals.lockIsOver(place, '/a', false).details).toContain('Nothing was written to /a.');
    expect(refusals.lockIsOver(place, '/a', true).details).toContain('may have been written before the lock ended');
  });
});
