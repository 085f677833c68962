import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ExecutionContext, Logger } from '@nestjs/common';
import { FenceGuard } from '../../../../lib/fencing/http/fence.guard.js';
import { MemoryFencingMarks } from '../../../../lib/fencing/http/fencing-marks.js';
import { RequireFence } from '../../../../lib/fencing/http/fence.decorators.js';
import { SigningKeys, VerificationKeys } from '../../../../lib/fencing/signed/keys.js';
import { signToken } from '../../../../lib/fencing/signed/signed-token.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { telling } from '../../../support/telling.js';

class Orders {
  @RequireFence('/locks/:id')
  save(): void {}

  @RequireFence('/locks/:id', { maxAgeMs: 1_000 })
  saveFresh(): void {}

  @RequireFence('/locks/:id', { maxAgeMs: undefined, issuer: undefined } as unknown as { maxAgeMs: number })
  saveUndefined(): void {}

  @RequireFence('/locks/:id', { issuer: 'billing' })
  saveBilled(): void {}

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

describe('the rules of a route', () => {
  it('take the place of those of the module, stricter ones too', async () => {
    expect(await ask('save', 'http', signed('orders', 10_000), keys)).toBe(true);
    await expect(ask('saveFresh', 'http', signed('orders', 10_000), keys)).rejects.toThrow(telling('has expired'));
    expect(await ask('saveBilled', 'http', signed('billing', 0), keys)).toBe(true);
    await expect(ask('saveBilled', 'http', signed('orders', 0), keys)).rejects.toThrow(
      telling('has to be issued by "billing"'),
    );
    await expect(ask('save', 'http', signed('billing', 0), keys)).rejects.toThrow(
      telling('has to be issued by "orders"'),
    );
  });

  it('leave those of the module where they are undefined', async () => {
    expect(await ask('saveUndefined', 'http', signed('orders', 10_000), keys)).toBe(true);
    const old = ask('saveUndefined', 'http', signed('orders', 2 * MAX_AGE_MS), keys);
    await expect(old).rejects.toThrow(telling('has expired'));
    await expect(ask('saveUndefined', 'http', signed('billing', 0), keys)).rejects.toThrow(
      telling('has to be issued by'),
    );
  });

  it('are refused where there is no such rule', () => {
    const misspelt = { maxAge: 1_000 } as unknown as { maxAgeMs: number };
    expect(() => {
      class Misspelt {
        @RequireFence('/locks/:id', misspelt)
        save(): void {}
      }
      return Misspelt;
    }).toThrow('Misspelt.save: maxAge: is not an option (the options are: keys, issuer, maxAgeMs)');
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

  it('lets nobody in by a rule that only signed tokens can keep', async () => {
    await expect(ask('saveFresh', 'http')).rejects.toThrow('Orders.saveFresh: maxAgeMs: only signed tokens have it');
  });
});
