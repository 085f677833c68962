import { describe, expect, it } from '@jest/globals';
import type { LinkRequest } from '../../../../lib/session/core/link.js';
import { TooLargeAnswerError } from '../../../../lib/session/errors.js';
import {
  type Answer,
  bytesOf,
  errorNumberOf,
  type Exchange,
  type ExchangeContext,
  exchangeFor,
  type Result,
} from '../../../../lib/session/native/exchanges.js';
import type { PackageStat } from '../../../../lib/session/native/stats.js';
import { create, exists, list, remove } from '../../../../lib/session/requests.js';

const SESSION = 0x1234n;
const NO_NODE: Answer = { rc: -101, values: [null] };

class Context implements ExchangeContext {
  readonly chroot: string = '/chroot';
  readonly sessionId = SESSION;
  isFormulaProven = false;
  lastZxid = 0n;
  readonly refuted: (string | bigint)[] = [];

  onFormulaProven(): void {
    this.isFormulaProven = true;
  }

  onFormulaRefuted(...what: [string, bigint, bigint]): void {
    this.refuted.push(...what);
  }

  sawZxid(zxid: bigint): void {
    if (zxid > this.lastZxid) this.lastZxid = zxid;
  }
}

function stat(values: Partial<PackageStat> = {}): PackageStat {
  const zxids = { czxid: 1, mzxid: 1, pzxid: 1 };
  const counts = { version: 0, cversion: 0, aversion: 0, dataLength: 0, numChildren: 0 };
  return { ...zxids, ...counts, ctime: new Date(5), mtime: new Date(6), ephemeralOwner: '0', ...values };
}

function ok(...values: unknown[]): Answer {
  return { rc: 0, values };
}

function methods({ calls }: Exchange): string[] {
  return calls.map(({ method, args }) => `${method} ${String(args[0])}`);
}

function result(next: Exchange | Result): Result {
  if ('calls' in next) throw new Error('Another exchange was not expected.');
  return next;
}

function exchange(next: Exchange | Result): Exchange {
  if (!('calls' in next)) throw new Error('Another exchange was expected.');
  return next;
}

const CREATE = create('/queue/lock-', 'ephemeral-sequential', Buffer.from('who'));
const MADE = ok('/chroot/queue/lock-0000000007');
/** Eight children were created, and three are left. */
const parent = (pzxid: number): Answer => ok(stat({ cversion: 13, numChildren: 3, pzxid }));

describe('A request over the package', () => {
  it('takes the zxid of a sequential node from the parent, once a node of its own has proven that', () => {
    const context = new Context();
    const first = exchangeFor(CREATE, context);
    expect(methods(first)).toEqual(['a_create /chroot/queue/lock-', 'a_exists /chroot/queue']);

    const asked = exchange(first.then([MADE, parent(90)]));
    expect(methods(asked)).toEqual(['a_exists /chroot/queue/lock-0000000007']);
    const own = result(asked.then([ok(stat({ czxid: 90, mzxid: 90 }))]));
    expect(own.read?.()).toMatchObject({ stat: { czxid: 90n, ctime: 5 } });

    expect(context.isFormulaProven).toBe(true);
    const next = result(exchangeFor(CREATE, context).then([MADE, parent(95)]));
    expect(next.read?.()).toEqual({
      path: '/chroot/queue/lock-0000000007',
      stat: {
        ...{ czxid: 95n, mzxid: 95n, pzxid: 95n, ctime: 0, mtime: 0, version: 0, cversion: 0, aversion: 0 },
        ...{ dataLength: 3, numChildren: 0, ephemeralOwner: SESSION },
      },
    });
  });

  it('asks the node itself where a sibling was created since', () => {
    const context = new Context();
    context.isFormulaProven = true;

    const sibling = ok(stat({ cversion: 14, numChildren: 4, pzxid: 99 }));
    const asked = exchange(exchangeFor(CREATE, context).then([MADE, sibling]));

    expect(result(asked.then([ok(stat({ czxid: 90 }))])).read?.()).toMatchObject({ stat: { czxid: 90n } });
  });

  it('takes the node for the judge: an earlier zxid of the parent is refused, a later one proves nothing', () => {
    const context = new Context();
    const judge = (pzxid: number): Result => {
      const asked = exchange(exchangeFor(CREATE, context).then([MADE, parent(pzxid)]));
      return result(asked.then([ok(stat({ czxid: 90 }))]));
    };

    // A sibling was removed in between.
    expect(judge(91).read?.()).toMatchObject({ stat: { czxid: 90n } });
    expect([context.isFormulaProven, context.refuted]).toEqual([false, []]);

    judge(89);
    expect([context.isFormulaProven, context.refuted]).toEqual([false, ['/chroot/queue/lock-0000000007', 89n, 90n]]);
  });

  it('was not of any use where its node is gone before its zxid is known: the caller tries again', () => {
    const context = new Context();
    const asked = exchange(exchangeFor(CREATE, context).then([MADE, NO_NODE]));

    expect(result(asked.then([NO_NODE]))).toMatchObject({ errorNumber: -101 });
    const other = exchangeFor(create('/box', 'container'), context);
    expect(methods(other)).toEqual(['a_create /chroot/box', 'a_exists /chroot/box']);
    expect(result(other.then([ok('/chroot/box'), NO_NODE]))).toMatchObject({ errorNumber: -101 });
    expect(result(other.then([{ rc: -110, values: [] }, NO_NODE]))).toMatchObject({ errorNumber: -110 });
  });

  it.each([-2, -4, -7, -1, -3, -5, -9, -116])(
    'has an unknown outcome where it ends with %i, an error of the package',
    (rc) => {
      expect(errorNumberOf(rc)).toBe(-4);
      expect(result(exchangeFor(remove('/node'), new Context()).then([{ rc, values: [] }]))).toEqual({
        errorNumber: -4,
      });
    },
  );

  it.each([0, -6, -8, -101, -110, -112, -118])('has the outcome that the server tells where it ends with %i', (rc) => {
    expect(errorNumberOf(rc)).toBe(rc);
  });

  it('refuses a zxid that a double cannot tell exactly', () => {
    const asked = exchangeFor(exists('/node'), new Context());

    const told = result(asked.then([ok(stat({ czxid: 2 ** 53 }))]));
    expect(() => told.read?.()).toThrow(/beyond what the package can tell/);
  });

  it('sets watches again by reading, and tells what they have missed', () => {
    const context = new Context();
    const request: LinkRequest = {
      op: 'setWatches',
      relativeZxid: 50n,
      data: ['/same', '/changed', '/deleted'],
      exists: ['/missing', '/created'],
      children: ['/still', '/grown', '/gone'],
    };

    const asked = exchangeFor(request, context);
    expect(asked.calls.every(({ args }) => args[1] === true)).toBe(true);
    const { events, errorNumber } = result(
      asked.then([
        ok(stat({ mzxid: 50 })),
        ok(stat({ mzxid: 51 })),
        NO_NODE,
        NO_NODE,
        ok(stat()),
        ok([], stat({ pzxid: 50 })),
        ok([], stat({ pzxid: 60 })),
        NO_NODE,
      ]),
    );

    expect(errorNumber).toBe(0);
    expect(events).toEqual([
      { type: 'changed', path: '/changed' },
      { type: 'deleted', path: '/deleted' },
      { type: 'created', path: '/created' },
      { type: 'children', path: '/grown' },
      { type: 'deleted', path: '/gone' },
    ]);
    expect(context.lastZxid).toBe(60n);
    const all = asked.calls.map(() => ok(stat()));
    expect(result(asked.then([{ rc: -102, values: [] }, ...all.slice(1)]))).toEqual({ errorNumber: -102 });
  });

  it('takes the bytes of a text along, and nothing else of the memory in which they were made', () => {
    const text = '{"label":"Größe"}';
    const [call] = exchangeFor(create('/a', 'ephemeral', text), new Context()).calls;
    const data = call!.args[1] as Uint8Array;
    expect(Buffer.from(data).toString()).toBe(text);
    expect(data.buffer.byteLength).toBe(Buffer.byteLength(text));
    expect(bytesOf(create('/a', 'ephemeral', 'é'.repeat(1_000)), '')).toBe(2_002);
  });

  it('keeps no list that the other client would not keep', () => {
    const names = Array.from({ length: 600 }, (_, index) => String(index).padStart(8_000, 'x'));
    const asked = exchangeFor(list('/crowd'), new Context());

    expect(() => result(asked.then([ok(names, stat())])).read?.()).toThrow(TooLargeAnswerError);
  });
});
