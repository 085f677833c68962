import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SigningKeys } from '../../../lib/fencing/signed/keys.js';
import { signToken } from '../../../lib/fencing/signed/signed-token.js';
import { sharedMarks, startDocumentsService } from './support/documents-service.js';

const keys = new SigningKeys({ issuer: 'orders', current: { id: 'k', algorithm: 'HS256', secret: randomBytes(32) } });

describe('@RequireFence on Fastify', () => {
  it('reads header and parameters, and answers, as on Express', async () => {
    await using marks = await sharedMarks();
    await using service = await startDocumentsService(
      { marks: await marks.open(), keys },
      { adapter: new FastifyAdapter() },
    );
    const put = (fencingToken: bigint, key = '/locks/documents/a%2Fb') =>
      service.put('a%2Fb', { 'Fencing-Token': signToken({ key, fencingToken, mode: 'write' }, keys) });

    expect(await put(7n)).toMatchObject({ status: 200, body: { id: 'a/b', token: '7' } });
    expect(await put(6n)).toMatchObject({ status: 409, body: { statusCode: 409, code: 'STALE_FENCING_TOKEN' } });
    expect(await put(8n, '/locks/documents/a')).toMatchObject({ status: 403, body: { code: 'INVALID_FENCING_TOKEN' } });
    expect(await service.put('a%2Fb')).toMatchObject({ status: 428, body: { code: 'FENCING_TOKEN_REQUIRED' } });
    expect(service.saved).toEqual([{ id: 'a/b', text: 'text', token: 7n }]);
  });
});
