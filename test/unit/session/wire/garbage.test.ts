import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LinkRequest } from '../../../../lib/session/core/link.js';
import { SessionError } from '../../../../lib/session/errors.js';
import { check, create, exists, get, list, multi, remove, set, sync } from '../../../../lib/session/requests.js';
import { FrameInput } from '../../../../lib/session/wire/frame-input.js';
import { MalformedFrameError } from '../../../../lib/session/wire/jute-reader.js';
import { recordedFrame } from './recorded-frames.js';
import { RecordingListener } from './recording-listener.js';

const REQUESTS: readonly LinkRequest[] = [
  create('/a', 'persistent'),
  remove('/a'),
  set('/a', new Uint8Array()),
  exists('/a'),
  get('/a'),
  list('/a'),
  sync('/a'),
  multi([create('/a', 'ephemeral'), set('/a', new Uint8Array()), check('/a'), remove('/a')]),
];

const NAMES = ['create persistent', 'get, watched', 'list, watched', 'multi', 'multi fails', 'set', 'ping'];

/** Everything that may come of it: nothing, what was understood, or a refusal. */
function pushRefused(input: FrameInput, bytes: Buffer): boolean {
  try {
    input.push(bytes);
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedFrameError);
    return true;
  }
}

function connected(listener: RecordingListener): FrameInput {
  const input = new FrameInput(listener);
  input.push(recordedFrame('handshake').reply);
  return input;
}

function expectOnlyHonestErrors(listener: RecordingListener): void {
  for (const { thrown } of listener.replies) {
    if (thrown === undefined || thrown instanceof SessionError) continue;
    expect(thrown).toBeInstanceOf(MalformedFrameError);
  }
}

function withLength(body: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  return Buffer.concat([length, body]);
}

const request = fc.constantFrom(...REQUESTS);

describe('On the wire,', () => {
  it('garbage in place of a stream is refused or waited upon, never looped on', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), fc.boolean(), (chunks, handshaken) => {
        const listener = new RecordingListener();
        const input = handshaken ? connected(listener) : new FrameInput(listener);
        chunks.some((chunk) => pushRefused(input, Buffer.from(chunk)));
        expectOnlyHonestErrors(listener);
      }),
      { numRuns: 500 },
    );
  });

  it('garbage in place of the body of a reply is refused or understood', () => {
    fc.assert(
      fc.property(request, fc.uint8Array({ maxLength: 400 }), (asked, garbage) => {
        const listener = new RecordingListener();
        const input = connected(listener);
        listener.requests.push(asked);
        input.push(withLength(Buffer.concat([Buffer.alloc(16), garbage])));
        expect(listener.replies).toHaveLength(1);
        expectOnlyHonestErrors(listener);
      }),
      { numRuns: 1000 },
    );
  });

  it('a real reply with bytes changed is refused or understood', () => {
    const change = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) });
    fc.assert(
      fc.property(
        request,
        fc.constantFrom(...NAMES),
        fc.array(change, { minLength: 1, maxLength: 6 }),
        (asked, name, changes) => {
          const listener = new RecordingListener();
          const input = connected(listener);
          listener.requests.push(asked);
          const reply = Buffer.from(recordedFrame(name).reply);
          for (const { at, byte } of changes) reply[at % reply.length] = byte;
          pushRefused(input, reply);
          expectOnlyHonestErrors(listener);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it.each(NAMES.filter((name) => name !== 'ping'))('a reply cut short anywhere is refused: %s', (name) => {
    const asked = {
      'create persistent': REQUESTS[0],
      'get, watched': REQUESTS[4],
      'list, watched': REQUESTS[5],
      multi: multi([
        create('/a', 'ephemeral'),
        create('/a', 'container'),
        set('/a', new Uint8Array()),
        check('/a'),
        remove('/a'),
      ]),
      'multi fails': multi([create('/a', 'ephemeral'), check('/a'), remove('/a')]),
      set: REQUESTS[2],
    }[name];
    if (asked === undefined) throw new Error(`No request for '${name}'.`);
    const { reply } = recordedFrame(name);
    // The last number of a multi's end says nothing, so nobody misses it.
    const needed = name.startsWith('multi') ? reply.length - 4 : reply.length;
    for (let length = 4; length < needed; length += 1) {
      const listener = new RecordingListener();
      const input = connected(listener);
      listener.requests.push(asked);
      const refused = pushRefused(input, withLength(reply.subarray(4, length)));
      const unreadable = listener.replies[0]?.thrown instanceof MalformedFrameError;
      expect({ length, refused: refused || unreadable }).toEqual({ length, refused: true });
    }
  });
});
