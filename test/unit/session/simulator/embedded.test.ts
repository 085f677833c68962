import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { HandshakeReply, Link, LinkRequest } from '../../../../lib/session/core/link.js';
import { create, exists, type Reply } from '../../../../lib/session/requests.js';
import { embeddedEnsemble } from '../../../../lib/session/simulator/embedded.js';
import { TYPESCRIPT_FLAGS } from '../../../support/typescript/flags.js';

interface Waiting {
  readonly request: LinkRequest;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

interface Connected {
  readonly link: Link;
  readonly granted: HandshakeReply;
  readonly ask: (request: LinkRequest) => Promise<Reply>;
}

function connect(name: string): Promise<Connected> {
  const ensemble = embeddedEnsemble(name);
  const [address] = ensemble.servers;
  if (address === undefined) throw new Error('the embedded ensemble has no server');
  const waiting = new Map<number, Waiting>();
  let xid = 0;
  return new Promise((resolve, reject) => {
    const ask = (request: LinkRequest): Promise<Reply> =>
      new Promise((resolveReply, rejectReply) => {
        xid += 1;
        waiting.set(xid, { request, resolve: resolveReply, reject: rejectReply });
        link.send(xid, request, '');
      });
    const link = ensemble.dialer().dial(address, {
      onOpen: () => link.handshake({ sessionId: 0n, password: new Uint8Array(16), timeoutMs: 10_000, lastZxid: 0n }),
      onHandshake: (granted) => resolve({ link, granted, ask }),
      onActivity: () => undefined,
      onReply: (number, errorNumber, body) => {
        const asked = waiting.get(number);
        if (errorNumber !== 0) asked?.reject(new Error(String(errorNumber)));
        else if (asked !== undefined) asked.resolve(body.read(asked.request));
      },
      onEvent: () => undefined,
      onClosed: reject,
    });
  });
}

describe('the embedded ensemble', () => {
  it('is the same one for all who name it, and another for others', async () => {
    const [one, two, stranger] = await Promise.all([connect('shared'), connect('shared'), connect('other')]);
    await one.ask(create('/mine', 'ephemeral', Buffer.from('x')));
    expect(await two.ask(exists('/mine'))).toMatchObject({ ephemeralOwner: one.granted.sessionId, dataLength: 1 });
    await expect(stranger.ask(exists('/mine'))).rejects.toThrow('-101');
    expect(two.granted.timeoutMs).toBe(10_000);
    for (const { link } of [one, two, stranger]) link.destroy();
  });

  it('answers in order what is sent in one turn, within that many turns of the event loop', async () => {
    const { link, ask } = await connect('order');
    const asked = [0, 1, 2].map(() => ask(create('/n-', 'ephemeral-sequential')));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns < 1_000) handle = setImmediate(count);
    };
    let handle = setImmediate(count);
    const replies = await Promise.all(asked);
    clearImmediate(handle);
    expect(turns).toBeLessThan(10);
    expect(replies).toMatchObject([{ path: '/n-0000000000' }, { path: '/n-0000000001' }, { path: '/n-0000000002' }]);
    link.destroy();
  });

  it('writes the wall clock into its nodes', async () => {
    const { link, ask } = await connect('time');
    const before = Date.now();
    const { stat } = (await ask(create('/now', 'ephemeral'))) as { stat: { ctime: number } };
    expect(stat.ctime).toBeGreaterThanOrEqual(before);
    expect(stat.ctime).toBeLessThanOrEqual(Date.now());
    link.destroy();
  });

  it('lets the process end by itself when nobody is connected', async () => {
    const script = join(import.meta.dirname, 'support', 'embedded-exit.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [...TYPESCRIPT_FLAGS, script], { timeout: 20_000 });
    expect(stdout).toBe('answered 0\n');
  });
});
