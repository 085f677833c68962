import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parseToken, tokenToCompare } from '../../../lib/fencing/fence.js';
import { SigningKeys } from '../../../lib/fencing/signed/keys.js';
import { signToken } from '../../../lib/fencing/signed/signed-token.js';
import { InvalidFencingTokenError, LockConfigurationError } from '../../../lib/lock/errors.js';
import type { LockMode } from '../../../lib/lock/mode.js';
import { createLockService } from '../../../lib/open.js';
import { telling } from '../../support/telling.js';

const keys = new SigningKeys({ issuer: 'me', current: { id: 'k', algorithm: 'HS256', secret: randomBytes(32) } });
const signed = (key: string, mode: LockMode): string => signToken({ key, fencingToken: 7n, mode }, keys);

describe('what a store compares', () => {
  it.each([1n, 2n ** 53n + 1n, 2n ** 63n - 1n])(
    'is the number itself, or its digits, without a bit lost: %p',
    async (token) => {
      expect(await tokenToCompare(token, '/a', {})).toBe(token);
      expect(await tokenToCompare(String(token), '/a', {})).toBe(token);
    },
  );

  it.each<[unknown]>([
    [0n],
    [-1n],
    [2n ** 63n],
    ['0'],
    ['-1'],
    ['01'],
    ['1.0'],
    ['1e3'],
    ['0x1'],
    [' 1'],
    ['1 '],
    ['1n'],
    [''],
    ['9223372036854775808'],
    [7],
    [undefined],
    [null],
  ])('is never %p', async (value) => {
    await expect(tokenToCompare(value as string, '/a', {})).rejects.toThrow(InvalidFencingTokenError);
    expect(() => parseToken(value as string, '/a')).toThrow(telling('Not a fencing token for /a'));
  });

  it('is what a signed token of the resource says, where there are keys', async () => {
    expect(await tokenToCompare(signed('/a', 'write'), '/a', { keys })).toBe(7n);
    const lockKey = (resource: string): string => `/locks/${resource}`;
    expect(await tokenToCompare(signed('/locks/a', 'exclusive'), 'a', { keys, lockKey })).toBe(7n);
    await expect(tokenToCompare(signed('/locks/b', 'exclusive'), 'a', { keys, lockKey })).rejects.toThrow(
      telling('for /locks/a is that of another lock, "/locks/b"'),
    );
  });

  it.each<[string | bigint]>([[7n], ['7']])(
    'is not %p where there are keys: a number proves nothing',
    async (fence) => {
      await expect(tokenToCompare(fence, '/a', { keys })).rejects.toThrow(InvalidFencingTokenError);
    },
  );

  it.each<LockMode>(['read', 'upgradeable'])('is not the token of a lock held as %s, signed or not', async (mode) => {
    const refusal = tokenToCompare(signed('/a', mode), '/a', { keys });
    await expect(refusal).rejects.toThrow(InvalidFencingTokenError);
    await expect(refusal).rejects.toThrow(telling(`/a is held as ${mode}, which gives no right to write`));

    await using locks = await createLockService({ connect: 'memory:fence-modes' });
    await using lock = await locks.acquire('/a', { mode });
    await expect(tokenToCompare(lock, '/a', { keys })).rejects.toThrow(LockConfigurationError);
  });

  it('is the token of a handle, while its lock is held', async () => {
    await using locks = await createLockService({ connect: 'memory:fence-handles' });
    const lock = await locks.acquire('/a');
    expect(await tokenToCompare(lock, '/a', { keys })).toBe(lock.fencingToken);
    await lock.release();
    await expect(tokenToCompare(lock, '/a', { keys })).rejects.toMatchObject({ code: 'LOCK_LOST' });
  });

  it('is not the token of the handle on another lock, where it is said which one protects the resource', async () => {
    await using locks = await createLockService({ connect: 'memory:fence-others' });
    await using lock = await locks.acquire('/locks/a');
    const lockKey = (resource: string): string => `/locks/${resource}`;
    expect(await tokenToCompare(lock, 'a', { lockKey })).toBe(lock.fencingToken);
    expect(await tokenToCompare(lock, 'b', {})).toBe(lock.fencingToken);
    await expect(tokenToCompare(lock, 'b', { lockKey })).rejects.toThrow(
      telling('b is protected by the lock /locks/b (lockKey), not by /locks/a'),
    );
  });

  it('is not a handle on several locks, but one of theirs', async () => {
    await using locks = await createLockService({ connect: 'memory:fence-several' });
    await using several = await locks.acquireAll(['/locks/a', '/locks/b']);
    const refusal = tokenToCompare(several as never, 'a', {});

    await expect(refusal).rejects.toThrow(LockConfigurationError);
    await expect(refusal).rejects.toThrow(telling('a is a handle on several locks (/locks/a, /locks/b)'));
    await expect(refusal).rejects.toThrow(telling('take one of its locks'));
    expect(await tokenToCompare(several.locks[0]!, 'a', {})).toBe(several.fencingToken('/locks/a'));
  });
});
