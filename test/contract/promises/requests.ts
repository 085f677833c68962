import { describe, expect, it } from '@jest/globals';
import { SessionError } from '../../../lib/session/errors.js';
import { create, exists, get, list, remove, type Request, set, sync } from '../../../lib/session/requests.js';
import type { ContractClient } from '../worlds/contract-client.js';
import type { ContractWorld } from '../worlds/contract-world.js';
import { type Gaps, NO_GAPS } from '../worlds/gaps.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const READ_ONLY = [{ permissions: 1, scheme: 'world', id: 'anyone' }];
const NO_SCHEME = [{ permissions: 31, scheme: 'no-such-scheme', id: 'nobody' }];
const DATA = Buffer.from('data');

const ABOUT_ACCESS = ['NO_AUTH', 'INVALID_ACL'];

const REFUSALS: readonly (readonly [string, string, Request])[] = [
  ['NO_NODE', 'a get of a missing node', get('/missing')],
  ['NO_NODE', 'a list of a missing node', list('/missing')],
  ['NO_NODE', 'a set of a missing node', set('/missing', DATA)],
  ['NO_NODE', 'a delete of a missing node', remove('/missing')],
  ['NO_NODE', 'a create below a missing node', create('/missing/child', 'persistent')],
  ['NODE_EXISTS', 'a create of what is there', create('/plain', 'persistent')],
  ['NOT_EMPTY', 'a delete of a node with children', remove('/parent')],
  ['BAD_VERSION', 'a set with an older version', set('/plain', DATA, 7)],
  ['BAD_VERSION', 'a delete with another version', remove('/plain', 7)],
  ['NO_CHILDREN_FOR_EPHEMERALS', 'a create below an ephemeral node', create('/ephemeral/child', 'persistent')],
  ['NO_AUTH', 'a set of a node that may only be read', set('/guarded', DATA)],
  ['NO_AUTH', 'a create below a node that may only be read', create('/guarded/child', 'persistent')],
  [
    'INVALID_ACL',
    'a create with a scheme that the server does not know',
    create('/odd', 'persistent', DATA, NO_SCHEME),
  ],
  ['BAD_ARGUMENTS', 'a relative path', get('plain')],
  ['BAD_ARGUMENTS', 'an empty path', get('')],
  ['BAD_ARGUMENTS', 'a slash at the end', get('/plain/')],
  ['BAD_ARGUMENTS', 'an empty segment', create('/plain//child', 'persistent')],
  ['BAD_ARGUMENTS', 'a dot as a segment', create('/./child', 'persistent')],
  ['BAD_ARGUMENTS', 'two dots as a segment', create('/plain/..', 'persistent')],
  ['BAD_ARGUMENTS', 'a control character', create('/a\u0001b', 'persistent')],
  ['BAD_ARGUMENTS', 'a character beyond the BMP', create('/🔒', 'persistent')],
];

async function prepared(world: ContractWorld): Promise<ContractClient> {
  const client = await (await world.open()).whenUp();
  await client.askAll([
    create('/plain', 'persistent', DATA),
    create('/parent', 'persistent'),
    create('/parent/child', 'persistent'),
    create('/ephemeral', 'ephemeral'),
    create('/guarded', 'persistent', DATA, READ_ONLY),
  ]);
  return client;
}

export function requestsContract(world: () => ContractWorld, gaps: Gaps = NO_GAPS): void {
  describe('when it asks,', () => {
    it('exists is answered with the stat, and with undefined where there is no node', async () => {
      const client = await (await world().open()).whenUp();
      const { stat } = await client.ask(create('/there', 'persistent', DATA));

      expect(await client.ask(exists('/there'))).toEqual(stat);
      expect(await client.ask(exists('/missing'))).toBeUndefined();
      expect(await client.ask(exists('/missing/below'))).toBeUndefined();
    });

    it('a set counts the version up, and only the current version may be named', async () => {
      const client = await (await world().open()).whenUp();
      const { stat } = await client.ask(create('/node', 'persistent', DATA));

      const first = await client.ask(set('/node', Buffer.from('first'), 0));
      const second = await client.ask(set('/node', Buffer.from('second')));

      expect([first.version, second.version]).toEqual([1, 2]);
      expect(second.czxid).toBe(stat.czxid);
      expect(second.mzxid).toBeGreaterThan(first.mzxid);
      expect(await client.failure(set('/node', DATA, 1))).toMatchObject({ code: 'BAD_VERSION' });
      expect(Buffer.from((await client.ask(get('/node'))).data).toString()).toBe('second');
      expect(await client.ask(remove('/node', 2))).toBeUndefined();
    });

    it('list names the children, without their paths', async () => {
      const client = await prepared(world());
      await client.ask(create('/parent/other', 'persistent'));

      const { children, stat } = await client.ask(list('/parent'));

      expect([...children].sort()).toEqual(['child', 'other']);
      expect(stat.numChildren).toBe(2);
      expect((await client.ask(list('/plain'))).children).toEqual([]);
    });

    it('reads see what others have been told, if they come after a sync', async () => {
      const [writer, reader] = await Promise.all([world().open(), world().open()]);
      await writer.whenUp();
      await reader.whenUp();
      await writer.ask(create('/news', 'persistent', DATA));

      for (let version = 1; version <= 10; version += 1) {
        await writer.ask(set('/news', Buffer.from(`${version}`)));
        const [synced, read] = await reader.askAll([sync('/news'), get('/news')]);
        expect(synced).toBeUndefined();
        expect(read).toMatchObject({ stat: { version } });
      }
    });

    it.each(REFUSALS.filter(([code]) => !(gaps.has('acl') && ABOUT_ACCESS.includes(code))))(
      '%s is the answer to %s',
      async (code, _what, request) => {
        const client = await prepared(world());

        const error = await client.failure(request);

        expect(error).toMatchObject({
          code,
          outcomeUnknown: false,
          path: 'path' in request ? request.path : undefined,
        });
        expect(await client.ask(get('/plain'))).toMatchObject({ stat: { version: 0 } });
      },
    );

    it('data too large for a server is refused here, and harms nobody', async () => {
      const client = await prepared(world());
      const before = client.identity;
      const tooLarge = new Uint8Array(1_100_000);

      const [first, second, third] = await client.askAll([
        get('/plain'),
        create('/large', 'persistent', tooLarge),
        set('/plain', Buffer.from('next')),
      ]);

      expect(first).toMatchObject({ stat: { version: 0 } });
      expect(second).toMatchObject({ code: 'TOO_LARGE', path: '/large', outcomeUnknown: false });
      expect(third).toMatchObject({ version: 1 });
      expect(await client.failure(set('/plain', tooLarge))).toMatchObject({ code: 'TOO_LARGE' });
      expect(await client.ask(exists('/large'))).toBeUndefined();
      expect(client.sent('create', '/large')).toHaveLength(0);
      expect(client.log.states).toEqual(['connecting', 'connected']);
      expect(client.identity).toEqual(before);
    });

    it('the outcomes of a batch come in its order, each its own', async () => {
      const client = await prepared(world());

      const outcomes = await client.askAll([
        create('/parent/new', 'ephemeral'),
        list('/parent'),
        remove('/missing'),
        remove('/parent/new'),
        list('/parent'),
        exists('/parent/new'),
      ]);

      const [created, before, missing, removed, after, gone] = outcomes;
      expect(created).toMatchObject({ path: '/parent/new' });
      expect(before instanceof SessionError ? before : [...before.children].sort()).toEqual(['child', 'new']);
      expect(missing).toMatchObject({ code: 'NO_NODE', path: '/missing' });
      expect(removed).toBeUndefined();
      expect(after).toMatchObject({ children: ['child'] });
      expect(gone).toBeUndefined();
      expect(await client.askAll([])).toEqual([]);
    });

    it('requests arrive in the order in which they were made, batched or not, without waiting for answers', async () => {
      const client = await prepared(world());
      const from = client.link.sent().length;

      const answers = [
        replyTo(client.session, create('/a', 'persistent')),
        client.session.batch([get('/a'), list('/a')]),
        replyTo(client.session, remove('/a')),
      ];
      await world().settle(Promise.all(answers));

      const ops = client.link.sent().slice(from);
      const stat = gaps.has('stat of a create') ? ['exists'] : [];
      expect(ops.filter(({ op }) => op !== 'ping').map(({ op }) => op)).toEqual([
        'create',
        ...stat,
        'get',
        'list',
        'delete',
      ]);
    });

    it('two thousand requests at once are all answered, each with its own answer', async () => {
      const client = await (await world().open()).whenUp();
      const paths = Array.from({ length: 1_000 }, (_, index) => `/many-${index}`);

      const made = await client.askAll(paths.map((path) => create(path, 'ephemeral', Buffer.from(path))));
      const read = await client.askAll(paths.map((path) => get(path)));

      expect(made.map((outcome) => (outcome instanceof SessionError ? outcome : outcome.path))).toEqual(paths);
      expect(
        read.map((outcome) => (outcome instanceof SessionError ? outcome : String(Buffer.from(outcome.data)))),
      ).toEqual(paths);
    });
  });
}
