import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FencedObjects } from '../../../lib/fencing/objects/fenced-objects.js';
import type { ObjectClient } from '../../../lib/fencing/objects/object-client.js';
import { decodeRecord } from '../../../lib/fencing/objects/record.js';
import { objectClient, ObjectServer } from '../../support/fencing/object-server.js';
import { acceptable, acceptedInDisorder, codeOf, shuffledTokens } from '../../support/fencing/tokens.js';
import { telling } from '../../support/telling.js';

const LARGEST = 2n ** 63n - 1n;
const R = '/locks/reports/42';
const STALE = 'STALE_FENCING_TOKEN';

describe('FencedObjects', () => {
  let server: ObjectServer;
  let client: ObjectClient;
  let objects: FencedObjects;

  beforeEach(async () => {
    server = await ObjectServer.start();
    client = objectClient(server);
    objects = new FencedObjects({ client });
  });
  afterEach(() => server.stop());

  async function text(): Promise<string | undefined> {
    return (await objects.read(R))?.content.toString();
  }

  /** What the object held, one version after the other. */
  function history(): { token: bigint; text: string | undefined }[] {
    const versions = server.versions.get(`/${encodeURIComponent(R)}`) ?? [];
    return versions.map((body) => {
      const { token, content } = decodeRecord(R, body);
      return { token, text: content?.toString() };
    });
  }

  const addOne = (current: Buffer | undefined): string => String(Number(current ?? 0) + 1);

  describe('the mark', () => {
    it('takes the same token again and a higher one, refuses a lower one and says what the highest is', async () => {
      await objects.write(R, 'five', 5n);
      await objects.write(R, 'five again', 5n);
      await objects.claim(R, '7');
      await expect(objects.write(R, 'six', 6n)).rejects.toEqual(
        telling('has seen the fencing token 7, so 6 comes too late'),
      );
      expect(await text()).toBe('five again');
      expect(await objects.highest(R)).toBe(7n);
    });

    it('is exact up to 2^63 - 1, where numbers of JavaScript are not', async () => {
      await objects.claim(R, LARGEST);
      expect(await codeOf(objects.claim(R, LARGEST - 1n))).toBe(STALE);
      expect(await objects.highest(R)).toBe(LARGEST);
    });

    it('never goes down, in whatever order 200 tokens come', async () => {
      const { accepted, refusals } = await acceptedInDisorder(200, (token) => objects.claim(R, token));
      expect(accepted).toEqual(acceptable(shuffledTokens(200)));
      expect([...refusals]).toEqual([STALE]);
    });

    it('is the highest after many writes at once, which came into force in the order of their tokens', async () => {
      const tokens = shuffledTokens(40, 7);
      const outcomes = await Promise.all(tokens.map((token) => codeOf(objects.write(R, String(token), token))));
      expect(new Set(outcomes)).toEqual(new Set(['accepted', STALE]));
      expect(await objects.highest(R)).toBe(40n);
      const accepted = tokens.filter((_, index) => outcomes[index] === 'accepted');
      const written = history().map(({ token }) => token);
      expect(written).toEqual(accepted.sort((a, b) => Number(a - b)));
    });

    it('outlives the removal of the content', async () => {
      await objects.write(R, 'five', 5n);
      await objects.remove(R, 6n);
      expect(await objects.read(R)).toBeUndefined();
      expect(await codeOf(objects.write(R, 'stale', 5n))).toBe(STALE);
      await objects.write(R, 'new', 6n);
      expect(await text()).toBe('new');
    });

    it('is not raised by a read, and a claim that is there already writes nothing', async () => {
      await objects.claim(R, 5n);
      await objects.read(R);
      await objects.highest('unknown');
      await objects.claim(R, 5n);
      expect(server.answers).toEqual([200]);
    });
  });

  describe('of two writers', () => {
    it('refuses the one whose write was on its way while a newer holder claimed, though the content is the same', async () => {
      await objects.write(R, 'same', 4n);
      const held = server.holdNextWrite();
      const stale = codeOf(objects.write(R, 'stale', 5n));
      await held.arrived;
      await objects.claim(R, 6n);
      held.goOn();
      expect(await stale).toBe(STALE);
      expect(history()).toEqual([
        { token: 4n, text: 'same' },
        { token: 6n, text: 'same' },
      ]);
      expect(server.answers).toEqual([200, 200, 409]);
    });

    it('refuses the one that sends the write of a version before, hours later', async () => {
      await objects.write(R, 'old', 4n);
      const before = await client.get(R);
      await objects.claim(R, 6n);
      const late = client.put(R, Buffer.from('late'), { ifMatch: before?.etag ?? '' });
      await expect(late).rejects.toMatchObject({ status: 412 });
      expect(await text()).toBe('old');
    });

    it('keeps every update of several places under one token, with writes that conflict and writes that lose', async () => {
      server.uploadMs = 2;
      const places = Array.from({ length: 6 }, () => new FencedObjects({ client: objectClient(server) }));
      await Promise.all(
        places.map(async (place) => {
          for (let round = 0; round < 5; round += 1) await place.update(R, 5n, addOne);
        }),
      );
      expect(await text()).toBe('30');
      expect(new Set(server.answers)).toEqual(new Set([200, 409, 412]));
    });

    it('lets the newer one build on what the older one wrote before its claim', async () => {
      await objects.update(R, 5n, addOne);
      const held = server.holdNextWrite();
      const newer = objects.update(R, 6n, addOne);
      await held.arrived;
      await objects.update(R, 5n, addOne);
      held.goOn();
      await newer;
      expect(history().map((version) => version.text)).toEqual(['1', '2', '3']);
      expect(await codeOf(objects.update(R, 5n, addOne))).toBe(STALE);
    });
  });

  describe('an answer that does not come', () => {
    beforeEach(() => objects.update(R, 5n, addOne));

    it('is found by reading: the write was carried out, once', async () => {
      server.meet('lose the answer');
      await objects.update(R, 5n, addOne);
      expect(history().map((version) => version.text)).toEqual(['1', '2']);
    });

    it('is asked for again where the write was not carried out', async () => {
      server.meet('lose the request', 'fail');
      await objects.update(R, 5n, addOne);
      expect(history().map((version) => version.text)).toEqual(['1', '2']);
      expect(server.answers).toEqual([200, 503, 200]);
    });

    it('is done also where a newer holder has written since', async () => {
      const held = server.holdNextWrite();
      server.meet('lose the answer');
      const write = objects.write(R, 'mine', 5n);
      await held.arrived;
      const readAgain = deferRead();
      held.goOn();
      await readAgain.begun;
      await objects.write(R, 'newer', 6n);
      readAgain.goOn();
      await write;
      expect(history().map((version) => version.text)).toEqual(['1', 'mine', 'newer']);
    });

    it('is refused as stale, and told to have written nothing, where a newer holder was first', async () => {
      const held = server.holdNextWrite();
      server.meet('lose the request');
      const write = objects.write(R, 'mine', 5n);
      await held.arrived;
      await objects.write(R, 'newer', 6n);
      held.goOn();
      await expect(write).rejects.toEqual(telling('Nothing was written.'));
      expect(await text()).toBe('newer');
    });

    it('does no harm when its write arrives behind the one that was sent again', async () => {
      const late: Uint8Array[] = [];
      const slow: ObjectClient = {
        get: (name) => client.get(name),
        put: async (name, body, condition) => {
          if (late.length > 0) return client.put(name, body, condition);
          late.push(body);
          throw new Error('no answer');
        },
      };
      const seen = await client.get(R);
      await new FencedObjects({ client: slow }).update(R, 5n, addOne);
      await objects.update(R, 5n, addOne);
      await expect(client.put(R, late[0]!, { ifMatch: seen?.etag ?? '' })).rejects.toMatchObject({ status: 412 });
      expect(await text()).toBe('3');
    });

    it('is told as an unknown outcome where it never comes', async () => {
      server.meet(...Array.from({ length: 8 }, () => 'lose the request' as const));
      await expect(objects.write(R, 'mine', 5n)).rejects.toMatchObject({
        code: 'LOCK_UNAVAILABLE',
        details: expect.stringContaining('is not known'),
      });
    }, 20_000);

    it('is told as an unknown outcome where too many others have written since', async () => {
      const held = server.holdNextWrite();
      server.meet('lose the request');
      const write = codeOf(objects.write(R, 'mine', 5n));
      await held.arrived;
      for (let round = 0; round < 33; round += 1) await objects.update(R, 5n, addOne);
      held.goOn();
      expect(await write).toBe('LOCK_UNAVAILABLE');
    });

    /** The next read waits for the test. */
    function deferRead(): { begun: Promise<void>; goOn: () => void } {
      const get = client.get.bind(client);
      let begin: () => void = () => undefined;
      let goOn: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      const gone = new Promise<void>((resolve) => (goOn = resolve));
      client.get = async (name) => {
        client.get = get;
        begin();
        await gone;
        return get(name);
      };
      return { begun, goOn: () => goOn() };
    }
  });

  it('lets the refusal of a store come out as it is, at once', async () => {
    server.meet('refuse');
    await expect(objects.write(R, 'x', 5n)).rejects.toMatchObject({ status: 403 });
    expect(server.answers).toEqual([403]);
  });

  it('reads the status that the AWS SDK puts into its errors', async () => {
    await objects.write(R, 'old', 5n);
    const retried: ObjectClient = {
      get: (name) => client.get(name),
      // As an SDK that sends again by itself: the first try was carried out, the second is told that somebody was first.
      put: async (name, body, condition) => {
        await client.put(name, body, condition);
        throw Object.assign(new Error('PreconditionFailed'), { $metadata: { httpStatusCode: 412 } });
      },
    };
    await new FencedObjects({ client: retried }).update(R, 5n, () => 'mine');
    expect(history().map((version) => version.text)).toEqual(['old', 'mine']);
  });

  it('says so where the ETag that the client gives is not that of the store', async () => {
    await objects.write(R, 'old', 5n);
    const weak: ObjectClient = {
      get: async (name) => {
        const found = await client.get(name);
        return found && { ...found, etag: `W/${found.etag}` };
      },
      put: (name, body, condition) => client.put(name, body, condition),
    };
    await expect(new FencedObjects({ client: weak }).write(R, 'new', 5n)).rejects.toEqual(
      telling('though reads give the same object'),
    );
    expect(await text()).toBe('old');
  }, 20_000);

  it.each<[string, unknown]>([
    ['an empty ETag', ''],
    ['blanks', ' '],
    ['none', undefined],
    ['null', null],
    ['any', '*'],
  ])('writes over nothing whose ETag it does not know: %s', async (_what, etag) => {
    await objects.write(R, 'old', 5n);
    const without: ObjectClient = {
      get: async (name) => {
        const found = await client.get(name);
        return found && { ...found, etag: etag as string };
      },
      // As the servers that take an empty header for none.
      put: async (name, body, condition) => {
        const { ifMatch = '' } = condition;
        if (ifMatch === '' && condition.ifNoneMatch === undefined)
          return server.place(name, Buffer.from(body).toString());
        return client.put(name, body, condition);
      },
    };
    const store = new FencedObjects({ client: without });
    await expect(store.write(R, 'new', 5n)).rejects.toEqual(telling('as the ETag of the object'));
    await expect(store.checkConditions()).rejects.toEqual(telling('as the ETag of the object'));
    expect(await text()).toBe('old');
  });

  it.each<[string, unknown]>([
    ['text', 'text'],
    ['an ArrayBuffer', new ArrayBuffer(3)],
    ['nothing', undefined],
  ])('says what a client must give for a body, not %s', async (_what, body) => {
    const other = { get: async () => ({ body, etag: '"1"' }), put: async () => undefined } as unknown as ObjectClient;
    await expect(new FencedObjects({ client: other }).read(R)).rejects.toEqual(telling('must give it as a Uint8Array'));
  });

  it('takes no refusal for a write that was carried out, where the client rejects none', async () => {
    await objects.write(R, 'old', 5n);
    const lenient: ObjectClient = {
      get: (name) => client.get(name),
      put: (name, body, { ifMatch, ifNoneMatch }) => {
        const headers = {
          ...(ifMatch && { 'if-match': ifMatch }),
          ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }),
        };
        return fetch(`${server.url}/${encodeURIComponent(name)}`, { method: 'PUT', body: Buffer.from(body), headers });
      },
    };
    const store = new FencedObjects({ client: lenient });
    await store.checkConditions();
    const held = server.holdNextWrite();
    const stale = codeOf(store.write(R, 'stale', 5n));
    await held.arrived;
    await objects.write(R, 'newer', 6n);
    held.goOn();
    expect(await stale).toBe(STALE);
    server.meet('refuse');
    await expect(store.write(R, 'x', 6n)).rejects.toMatchObject({ status: 403 });
    expect(await text()).toBe('newer');
  });

  it('refuses an object that another program wrote', async () => {
    for (const body of ['hello', '{"fencing":1}\n', '{"fencing":1,"token":"x","count":1,"writes":[]}\n']) {
      server.place(R, body);
      for (const call of [objects.read(R), objects.claim(R, 5n), objects.write(R, 'x', 5n)]) {
        await expect(call).rejects.toEqual(telling('was not written by FencedObjects'));
      }
    }
  });

  it('keeps bytes as they are, also none', async () => {
    const bytes = Buffer.from([0, 255, 10, 123, 10]);
    await objects.write(R, bytes, 5n);
    expect((await objects.read(R))?.content).toEqual(bytes);
    await objects.write(R, '', 5n);
    expect((await objects.read(R))?.content).toEqual(Buffer.alloc(0));
  });

  describe('checkConditions()', () => {
    it('is content with a store that carries out conditions, again and again', async () => {
      await objects.checkConditions();
      await objects.checkConditions();
    });

    it('refuses a store that ignores them', async () => {
      server.ignoresConditions = true;
      await expect(objects.checkConditions()).rejects.toEqual(telling('It would let stale writers in'));
    });

    it('refuses a client that finds nothing of what was written', async () => {
      const blind: ObjectClient = { ...client, get: async () => undefined };
      await expect(new FencedObjects({ client: blind }).checkConditions()).rejects.toEqual(telling('found no object'));
    });
  });
});
