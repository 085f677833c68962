import { describe, expect, it } from '@jest/globals';
import { TOKEN_XID } from '../../../../lib/session/core/link.js';
import { FrameInput } from '../../../../lib/session/wire/frame-input.js';
import { FrameOutput } from '../../../../lib/session/wire/frame-output.js';

/** As a client of ZooKeeper 3.8 sends them and a server answers, but for the number of the request. */
describe('Tokens of an authentication', () => {
  it.each<[string, string, string]>([
    ['a token', 'abc', '0000000f 00000000 00000066 00000003 616263'],
    ['no token', '', '0000000c 00000000 00000066 00000000'],
  ])('are sent as a request of their own: %s', (_, token, bytes) => {
    const written: Buffer[] = [];
    const sink = { write: (chunk: Buffer) => written.push(Buffer.from(chunk)), writableLength: 0, destroyed: false };
    const output = new FrameOutput(sink, []);
    output.token(Buffer.from(token));
    output.flush();
    expect(Buffer.concat(written).toString('hex')).toBe(bytes.replaceAll(' ', ''));
  });

  it.each<[string, string, string]>([
    ['a token', '00000017 00000000 0000000000000000 00000000 00000003 616263', 'abc'],
    ['none, at the end', '00000014 00000000 ffffffffffffffff 00000000 ffffffff', ''],
    ['an empty one', '00000014 00000000 0000000000000000 00000000 00000000', ''],
  ])('come back behind the header of a reply: %s', (_, bytes, token) => {
    const heard: unknown[] = [];
    const input = new FrameInput({
      onOpen: () => undefined,
      onHandshake: () => undefined,
      onActivity: () => undefined,
      onEvent: () => undefined,
      onClosed: () => undefined,
      onReply: (xid, errorNumber, body) => heard.push([xid, errorNumber, Buffer.from(body.readToken!()).toString()]),
    });
    const handshake = `00000024 00000000 00002710 0000000000001234 00000010 ${'00'.repeat(16)}`;
    for (const frame of [handshake, bytes]) input.push(Buffer.from(frame.replaceAll(' ', ''), 'hex'));
    expect(heard).toEqual([[TOKEN_XID, 0, token]]);
    expect(input.lastZxid).toBe(0n);
  });
});
