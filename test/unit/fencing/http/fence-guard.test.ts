import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ExecutionContext, Logger } from '@nestjs/common';
import { FenceGuard } from '../../../../lib/fencing/http/fence.guard.js';
import { MemoryFencingMarks } from '../../../../lib/fencing/http/fencing-options.js';
import { RequireFence } from '../../../../lib/fencing/http/fence.decorators.js';
import { SigningKeys, VerificationKeys } from '../../../../lib/fencing/signed/keys.js';
import { signToken } from '../../../../lib/fencing/signed/signed-token.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { telling } from '../../../support/telling.js';

class Orders {
  @RequireFence('/locks/:id')
  save(): void {}

  list(): void {}
}

const MAX_AGE_MS = 60_000;

function ask(method: keyof Orders, type: string, token = '7', keys?: VerificationKeys): Promise<boolean> {
  const request = { headers: { 'fencing-token': token }, params: { id: '1' } };
  const context = {
    getHandler: () => Object.getOwnPropertyDescriptor(Orders.prototype, method)?.value as object,
    getClass: () => Orders,
    getType: () => type,
    switchToHttp: () => ({ getRequest: () => request }),
  };
  const guard = new FenceGuard({ marks: new MemoryFencingMarks(), keys, rules: keys === undefined ? {} : RULES });
  return guard.canActivate(context as unknown as ExecutionContext);
}

const secret = randomBytes(32);
const signing = (issuer: string): SigningKeys =>
  new SigningKeys({ issuer, current: { id: issuer, algorithm: 'HS256', secret } });
const keys = new VerificationKeys(
  ['orders', 'billing'].map((issuer) => ({ id: issuer, algorithm: 'HS256' as const, secret })),
);
const RULES = { issuer: 'orders', maxAgeMs: MAX_AGE_MS };
const signed = (issuer: string, ageMs: number): string =>
  signToken({ key: '/locks/1', fencingToken: 7n, mode: 'exclusive' }, signing(issuer), {
    now: new Date(Date.now() - ageMs),
  });

/** Each refusal is logged with its details. */
beforeAll(() => void Logger.overrideLogger(false));

describe('the rules for signed tokens', () => {
  it('are those of the module', async () => {
    expect(await ask('save', 'http', signed('orders', 10_000), keys)).toBe(true);
    const old = ask('save', 'http', signed('orders', 2 * MAX_AGE_MS), keys);
    await expect(old).rejects.toThrow(telling('has expired'));
    await expect(ask('save', 'http', signed('billing', 0), keys)).rejects.toThrow(
      telling('has to be issued by "orders"'),
    );
  });
});

describe('the guard of @RequireFence', () => {
  it('lets nobody in who has no header, as messages have none', async () => {
    expect(await ask('save', 'http')).toBe(true);
    for (const type of ['rpc', 'ws', 'graphql']) {
      await expect(ask('save', type)).rejects.toThrow(LockConfigurationError);
      await expect(ask('save', type)).rejects.toThrow(
        `on Orders.save: it reads a header of HTTP, and this is a call of ${type}`,
      );
    }
  });

  it('lets nobody in where it was put by itself', async () => {
    await expect(ask('list', 'http')).rejects.toThrow('is put in place by @RequireFence(path), not by itself');
  });
});
