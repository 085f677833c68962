import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fencingToken } from '../../../../lib/lock/token.js';
import { check, create, multi, remove, set, type MultiResult, type Stat } from '../../../../lib/session/requests.js';
import { FrameInput } from '../../../../lib/session/wire/frame-input.js';
import { recordedFrame } from './recorded-frames.js';
import { RecordingListener } from './recording-listener.js';

const EPOCH = 5n << 32n;
/** Counters around the places where 32 bits have a sign, and where they end. */
const COUNTERS = [1n, 0x7fff_fffen, 0x7fff_ffffn, 0x8000_0000n, 0x8000_0001n, 0xffff_fffen, 0xffff_ffffn];
const ZXID_AT = 8;
/** What the recorded multi was asked for. */
const MULTI = multi([
  create('/m-', 'ephemeral-sequential'),
  create('/m-box', 'container'),
  set('/', new Uint8Array(0)),
  check('/', 2),
  remove('/m-box', 0),
]);

function connected(): { listener: RecordingListener; input: FrameInput } {
  const listener = new RecordingListener();
  const input = new FrameInput(listener);
  input.push(recordedFrame('handshake').reply);
  return { listener, input };
}

/** A recorded reply that carries this transaction. */
function numbered(name: string, zxid: bigint): Buffer {
  const frame = Buffer.from(recordedFrame(name).reply);
  frame.writeBigInt64BE(zxid, ZXID_AT);
  return frame;
}

describe('The number of a transaction', () => {
  it.each(COUNTERS)('is read whole where its counter is %s', (counter) => {
    const { input } = connected();
    input.push(numbered('sync', EPOCH | counter));
    expect([input.replyZxid, input.lastZxid]).toEqual([EPOCH | counter, EPOCH | counter]);
  });

  it.each(COUNTERS)('%s is the token of a node that was made in a transaction of several parts', (counter) => {
    const { input, listener } = connected();
    listener.requests.push(MULTI);
    input.push(numbered('multi', EPOCH | counter));
    const [made] = listener.replies[0]?.reply as readonly MultiResult[];
    const stat = made?.op === 'create' ? made.stat : undefined;
    expect(stat).toMatchObject({ czxid: EPOCH | counter, mzxid: EPOCH | counter, pzxid: EPOCH | counter });
    expect(fencingToken(stat!.czxid)).toBe(EPOCH | counter);
  });

  it('rises from one half of the counter to the other, and over its end to the next epoch', () => {
    const { input } = connected();
    const rising = [...COUNTERS.map((counter) => EPOCH | counter), EPOCH + (1n << 32n)];
    for (const zxid of rising) {
      input.push(numbered('sync', zxid));
      expect(input.lastZxid).toBe(zxid);
    }
  });

  it('is the largest seen when it is offered on a reconnect, whatever comes in which order', () => {
    const zxid = fc
      .tuple(fc.bigInt({ min: 0n, max: 3n }), fc.oneof(fc.constantFrom(...COUNTERS), fc.bigInt(0n, 0xffff_ffffn)))
      .map(([epoch, counter]) => (epoch << 32n) | counter);
    fc.assert(
      fc.property(fc.array(zxid, { maxLength: 8 }), (zxids) => {
        const { input } = connected();
        let largest = 0n;
        for (const each of zxids) {
          input.push(numbered('sync', each));
          if (each > largest) largest = each;
          expect([input.replyZxid, input.lastZxid]).toEqual([each, largest]);
        }
      }),
    );
  });

  it.each([-1n, 0n])('%s, which servers send that have nothing to count, lowers nothing', (nothing) => {
    const { input } = connected();
    input.push(numbered('sync', EPOCH | 0x8000_0000n));
    input.push(numbered('sync', nothing));
    expect([input.replyZxid, input.lastZxid]).toEqual([nothing, EPOCH | 0x8000_0000n]);
  });

  it('is read whole out of the stat of a node, too', () => {
    const { input, listener } = connected();
    const frame = Buffer.from(recordedFrame('exists').reply);
    const czxidAt = ZXID_AT + 8 + 4;
    frame.writeBigInt64BE(EPOCH | 0x8000_0001n, czxidAt);
    listener.requests.push({ op: 'exists', path: '/' });
    input.push(frame);
    expect((listener.replies[0]?.reply as Stat).czxid).toBe(EPOCH | 0x8000_0001n);
  });
});
