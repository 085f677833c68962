import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { Fence } from '../../../lib/fencing/fence.js';
import { SigningKeys } from '../../../lib/fencing/signed/keys.js';
import { signToken } from '../../../lib/fencing/signed/signed-token.js';
import { LockClosedError } from '../../../lib/index.js';
import type { LockMode } from '../../../lib/lock/mode.js';
import { recordRefusals } from '../support/refusals.js';
import { type DocumentsService, sharedMarks, startDocumentsService } from './support/documents-service.js';

const keys = new SigningKeys({ issuer: 'orders', current: { id: 'k', algorithm: 'HS256', secret: randomBytes(32) } });
const withToken = (token: bigint | string): Record<string, string> => ({ 'Fencing-Token': String(token) });
const signed = (id: string, fencingToken: bigint, mode: LockMode = 'exclusive', by = keys, now = new Date()): string =>
  signToken({ key: `/locks/documents/${id}`, fencingToken, mode }, by, { now });

/** The body that `LockExceptionFilter` makes. */
const body = (statusCode: number, code: string, message: string): object => ({
  statusCode,
  code,
  message: expect.stringContaining(message),
});

describe('@RequireFence', () => {
  it('lets in the newest holder, as often as it comes, and gives its token to the handler', async () => {
    await using marks = await sharedMarks();
    await using service = await startDocumentsService({ marks: await marks.open() });
    const token = 2n ** 63n - 1n;

    expect(await service.put('a', withToken(7n))).toMatchObject({ status: 200, body: { id: 'a', token: '7' } });
    expect(await service.put('a', withToken(token))).toMatchObject({ status: 200, body: { token: String(token) } });
    expect(await service.put('a', withToken(token))).toMatchObject({ status: 200 });
    expect(service.saved.map((saved) => saved.token)).toEqual([7n, token, token]);
  });

  it('refuses a stale caller with 409 at all instances, also after a restart', async () => {
    await using marks = await sharedMarks();
    await using one = await startDocumentsService({ marks: await marks.open() });
    {
      await using other = await startDocumentsService({ marks: await marks.open() });
      expect(await other.put('a', withToken(20n))).toMatchObject({ status: 200 });
      expect(await other.put('a', withToken(19n))).toMatchObject({ status: 409 });
    }
    await using again = await startDocumentsService({ marks: await marks.open() });
    for (const service of [one, again]) {
      const answer = await service.put('a', withToken(19n));
      expect(answer).toMatchObject({
        status: 409,
        body: body(409, 'STALE_FENCING_TOKEN', 'a newer one has been seen'),
      });
      expect(answer.headers.get('retry-after')).toBeNull();
      expect(service.saved).toEqual([]);
      expect(await service.put('b', withToken(19n))).toMatchObject({ status: 200 });
    }
  });

  it('asks for a token with 428, says where it belongs, and tells the log which lock it is of', async () => {
    using refusals = recordRefusals();
    await using marks = await sharedMarks();
    await using plain = await startDocumentsService({ marks: await marks.open() });
    await using signing = await startDocumentsService({ marks: await marks.open(), keys });

    for (const headers of [{}, withToken('')]) {
      const answer = await plain.put('a', headers);
      expect(answer.status).toBe(428);
      expect(answer.body).toEqual(body(428, 'FENCING_TOKEN_REQUIRED', 'a fencing token in the header Fencing-Token'));
      expect(refusals.take()).toEqual([
        expect.stringMatching(/^FENCING_TOKEN_REQUIRED: .* of the lock on \/locks\/documents\/a, in digits/),
      ]);
    }
    expect((await signing.put('a')).body).toMatchObject({ statusCode: 428, code: 'FENCING_TOKEN_REQUIRED' });
    expect(refusals.take()).toEqual([expect.stringContaining('/locks/documents/a, as a signed token')]);
    expect(plain.saved).toEqual([]);
    expect((await fetch(`${plain.url}/documents/a`)).status).toBe(200);
  });

  it.each(['abc', '-1', '0', '07', '1.5', '0x10', '1e3', String(2n ** 63n), 'null', '1, 2', '1,1', '1;2'])(
    'refuses %p with 403',
    async (shown) => {
      using refusals = recordRefusals();
      await using marks = await sharedMarks();
      await using service = await startDocumentsService({ marks: await marks.open() });
      const answer = await service.put('a', withToken(shown));

      expect(answer.body).toEqual(body(403, 'INVALID_FENCING_TOKEN', 'The fencing token is not valid here'));
      expect(refusals.take()).toEqual([expect.stringMatching(/^INVALID_FENCING_TOKEN: .*\/locks\/documents\/a/)]);
      expect(service.saved).toEqual([]);
    },
  );

  it('refuses several headers with 403, though all say the same', async () => {
    using refusals = recordRefusals();
    await using marks = await sharedMarks();
    await using service = await startDocumentsService({ marks: await marks.open() });
    const answer = await new Promise<string>((resolve, reject) => {
      const request = httpRequest(`${service.url}/documents/a`, {
        method: 'PUT',
        headers: ['Host', 'a', 'Fencing-Token', '7', 'Fencing-Token', '7', 'Content-Length', '0'],
      });
      request.on('error', reject).on('response', (response) => void text(response).then(resolve, reject));
      request.end();
    });

    expect(JSON.parse(answer)).toEqual(body(403, 'INVALID_FENCING_TOKEN', 'is not valid here'));
    expect(refusals.take()).toEqual([expect.stringContaining('has several Fencing-Token headers')]);
    expect(service.saved).toEqual([]);
  });

  it('lets nobody through to the handler when the marks cannot be asked, and answers 503', async () => {
    using refusals = recordRefusals();
    const down = {
      claim: (resource: string, fence: Fence) =>
        Promise.reject(new Error(`connect ECONNREFUSED 10.0.0.7:5432, with ${resource} and ${fence as bigint}`)),
    };
    await using service = await startDocumentsService({ marks: down });
    const answer = await service.put('a', withToken(7n));

    expect(answer.status).toBe(503);
    expect(answer.body).toEqual(body(503, 'LOCK_UNAVAILABLE', 'The lock service is not available'));
    expect(JSON.stringify(answer.body)).not.toMatch(/10\.0\.0\.7|documents/);
    expect(refusals.take()[0]).toMatch(
      /marks of \/locks\/documents\/a could not be checked.*ECONNREFUSED 10\.0\.0\.7:5432/,
    );
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(service.saved).toEqual([]);
  });

  it("lets nobody through when the marks' store says so itself", async () => {
    await using marks = await sharedMarks();
    const store = await marks.open();
    await using service = await startDocumentsService({ marks: store });
    await store.close();

    expect(await service.put('a', withToken(7n))).toMatchObject({
      status: 503,
      body: { code: new LockClosedError('').code },
    });
    expect(service.saved).toEqual([]);
  });

  it('answers with the same statuses without the filter', async () => {
    await using marks = await sharedMarks();
    await using service = await startDocumentsService({ marks: await marks.open() }, { filter: false });
    await service.put('a', withToken(7n));

    expect((await service.put('a')).body).toEqual({ statusCode: 428, message: expect.any(String) });
    expect((await service.put('a', withToken('x'))).body).toEqual({ statusCode: 403, message: expect.any(String) });
    expect((await service.put('a', withToken(6n))).body).toEqual({ statusCode: 409, message: expect.any(String) });
  });

  it('makes the key of a document as @Locked does', async () => {
    const claimed: string[] = [];
    const marks = {
      claim: async (resource: string, fence: Fence) => void claimed.push(`${resource} ${fence as bigint}`),
    };
    await using service = await startDocumentsService({ marks });
    await service.put('a%2Fb', withToken(7n));
    await service.put('%2e%2e%2fa', withToken(7n));
    await service.put('gr%C3%B6%C3%9Fe', withToken(7n));

    expect(claimed).toEqual([
      '/locks/documents/a%2Fb 7',
      '/locks/documents/..%2Fa 7',
      '/locks/documents/gr%C3%B6%C3%9Fe 7',
    ]);
  });

  it('lets in 100 requests in any order as if they came one by one: the tokens never go down', async () => {
    await using marks = await sharedMarks();
    const claimed: bigint[][] = [];
    const start = async (): Promise<DocumentsService> => {
      const store = await marks.open();
      const own: bigint[] = [];
      claimed.push(own);
      // In the order of the claims: the answers to requests may overtake each other.
      const claim = async (resource: string, fence: Fence): Promise<void> => {
        await store.claim(resource, fence);
        own.push(fence as bigint);
      };
      return startDocumentsService({ marks: { claim } });
    };
    await using one = await start();
    await using other = await start();
    const services = [one, other];
    const tokens = Array.from({ length: 100 }, (_, index) => BigInt(((index * 37) % 100) + 1));
    const answers = await Promise.all(
      tokens.map(async (token, index) => ({ token, ...(await services[index % 2]!.put('a', withToken(token))) })),
    );

    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    for (const own of claimed) expect(own).toEqual([...own].sort((left, right) => Number(left - right)));
    const accepted = answers.filter(({ status }) => status === 200).map(({ token }) => token);
    expect(accepted).toContain(100n);
    expect(claimed.flat().sort()).toEqual([...accepted].sort());
    expect(await (await marks.open()).highestToken('/locks/documents/a')).toBe(100n);
    for (const service of services) expect(await service.put('a', withToken(99n))).toMatchObject({ status: 409 });
  });
});

describe('@RequireFence with keys', () => {
  it('lets in who signed, and the token that it hands on is the signed one', async () => {
    await using marks = await sharedMarks();
    await using service = await startDocumentsService({
      marks: await marks.open(),
      keys,
      issuer: 'orders',
      maxAgeMs: 60_000,
    });

    expect(await service.put('a', withToken(signed('a', 7n)))).toMatchObject({ status: 200, body: { token: '7' } });
    expect(await service.put('a', withToken(signed('a', 6n)))).toMatchObject({ status: 409 });
    expect(service.saved).toEqual([{ id: 'a', text: 'text', token: 7n }]);
  });

  it('refuses with 403, and raises no mark for, what proves nothing', async () => {
    using refusals = recordRefusals();
    await using marks = await sharedMarks();
    await using service = await startDocumentsService({
      marks: await marks.open(),
      keys,
      issuer: 'orders',
      maxAgeMs: 60_000,
    });
    const high = 2n ** 62n;
    const current = { id: 'k', algorithm: 'HS256', secret: randomBytes(32) } as const;
    const stranger = new SigningKeys({ issuer: 'orders', current });
    const good = signed('a', high);
    // The payload that gives a right, under the signature of another.
    const forged = [...good.split('.').slice(0, 2), signed('b', high).split('.')[2]].join('.');
    const old = new Date(Date.now() - 120_000);
    const refused: [string, string][] = [
      [String(high), 'malformed'],
      [forged, 'bad signature'],
      [signed('a', high, 'exclusive', stranger), 'bad signature'],
      [signed('b', high), 'is that of another lock, "/locks/documents/b"'],
      [signed('a', high, 'read'), 'held as read'],
      [signed('a', high, 'upgradeable'), 'held as upgradeable'],
      [signed('a', high, 'exclusive', keys, old), 'has expired'],
    ];
    for (const [shown, message] of refused) {
      const answer = await service.put('a', withToken(shown));
      expect(answer).toMatchObject({ status: 403, body: { code: 'INVALID_FENCING_TOKEN' } });
      expect(answer.body['message']).toBe('The fencing token is not valid here');
      expect(refusals.take()).toEqual([expect.stringContaining(message)]);
    }
    expect(service.saved).toEqual([]);
    expect(await service.put('a', withToken(signed('a', 1n)))).toMatchObject({ status: 200 });
  });
});
