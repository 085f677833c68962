import { describe, expect, it } from '@jest/globals';
import type { LinkRequest } from '../../../../lib/session/core/link.js';
import { create, get, list, remove } from '../../../../lib/session/requests.js';
import { TooLargeAnswerError } from '../../../../lib/session/errors.js';
import { FrameInput } from '../../../../lib/session/wire/frame-input.js';
import { MalformedFrameError } from '../../../../lib/session/wire/jute-reader.js';
import { recordedFrame } from './recorded-frames.js';
import { RecordingListener } from './recording-listener.js';

const MEGABYTE = 2 ** 20;

/** What a reply of so many bytes begins with: its length, the header, how many children a list has, and no more. */
function beginning(bytes: number, xid: number, children: number): Buffer {
  const start = Buffer.alloc(24);
  start.writeInt32BE(bytes, 0);
  start.writeInt32BE(xid, 4);
  start.writeBigInt64BE(1_000_000n, 8);
  start.writeInt32BE(children, 20);
  return start;
}

function pushed(bytes: Buffer): { readonly listener: RecordingListener; readonly input: FrameInput } {
  const listener = new RecordingListener();
  const input = new FrameInput(listener);
  input.push(recordedFrame('handshake').reply);
  input.push(bytes);
  return { listener, input };
}

/** What the reply to this request turns out to be. */
function thrown(bytes: Buffer, request: LinkRequest): unknown {
  const listener = new RecordingListener();
  listener.requests.push(request);
  const input = new FrameInput(listener);
  input.push(recordedFrame('handshake').reply);
  input.push(bytes);
  return listener.replies[0]?.thrown;
}

describe('a reply that is longer than is kept', () => {
  it('says of a list how many children there are, of a get how much data', () => {
    const answer = beginning(30 * MEGABYTE, 1, 400_000);
    expect(thrown(answer, list('/a'))).toMatchObject({ code: 'TOO_LARGE', path: '/a', children: 400_000 });
    expect(thrown(answer, list('/a'))).toBeInstanceOf(TooLargeAnswerError);
    expect(thrown(answer, get('/a'))).toMatchObject({ code: 'TOO_LARGE', path: '/a', children: undefined });
  });

  it.each([
    ['to a write', create('/a', 'persistent'), 1],
    ['to a delete', remove('/a'), 1],
    ['of more children than it has room for', list('/a'), 8 * MEGABYTE],
    ['of a negative number of children', list('/a'), -1],
  ])('a long reply %s is no reply of ZooKeeper', (_what, request, children) => {
    expect(thrown(beginning(30 * MEGABYTE, 1, children), request)).toBeInstanceOf(MalformedFrameError);
  });

  it.each([
    ['an event', -1],
    ['the answer to a ping', -2],
    ['the answer to credentials', -4],
    ['the answer to watches', -8],
  ])('is refused in the place of %s', (_what, xid) => {
    expect(() => pushed(beginning(30 * MEGABYTE, xid, 1))).toThrow(MalformedFrameError);
  });

  it('does not come in the place of a handshake', () => {
    const input = new FrameInput(new RecordingListener());
    expect(() => input.push(beginning(30 * MEGABYTE, 0, 1))).toThrow(MalformedFrameError);
  });

  it('counts as the newest transaction that was seen, and those behind it are read', () => {
    const { listener, input } = pushed(beginning(5 * MEGABYTE, 1, 1_000));
    for (let rest = 5 * MEGABYTE - 20; rest > 0; rest -= MEGABYTE) input.push(Buffer.alloc(Math.min(rest, MEGABYTE)));
    input.push(recordedFrame('ping').reply);
    expect(listener.replies).toHaveLength(2);
    expect(input.lastZxid).toBe(1_000_000n);
  });
});
