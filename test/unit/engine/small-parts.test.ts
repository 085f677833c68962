import { describe, expect, it } from '@jest/globals';
import { Bell } from '../../../lib/engine/bell.js';
import { decodeContender, encodeContender, parseObject } from '../../../lib/engine/contender-data.js';
import { HoldHistory } from '../../../lib/engine/hold-history.js';
import { checkKey } from '../../../lib/engine/key.js';
import { Interrupt } from '../../../lib/engine/interrupt.js';
import { Uplink } from '../../../lib/engine/uplink.js';
import { encodeIntent, namesReader } from '../../../lib/engine/upgrade-intent.js';
import { InvalidLockKeyError, LockClosedError, LockTimeoutError } from '../../../lib/lock/errors.js';
import { LOCK_MODES } from '../../../lib/lock/mode.js';
import { ours } from '../queue/names.js';
import { rejection } from './support/engine-world.js';
import { ScriptedSession } from './support/scripted-session.js';
import { telling } from '../../support/telling.js';

describe('a bell', () => {
  it('is heard by who waits, and by who comes after it rang', async () => {
    const bell = new Bell();
    const waiting = bell.heard();
    bell.ring();
    bell.ring();
    await waiting;
    await bell.heard();
  });
});

describe('keys', () => {
  it.each([
    ['', 'empty'],
    ['/', 'the root'],
    ['orders', 'not absolute'],
    ['/locks/', 'a slash at the end'],
    ['/locks//a', 'an empty segment'],
    ['/locks/../a', 'a segment that is ..'],
    ['/locks/a\u0000', 'a control character'],
    ['/locks/🔒', 'an emoji'],
    ['/.sessions/1', "the sessions' own nodes"],
    ['/locks/lock-0000000001', 'a segment like a queue node'],
    [`/locks/${ours('read', 3)}/a`, 'one of our own nodes'],
    ['/locks/lock--000000001', 'a queue node past the ceiling'],
  ])('%j is refused: %s', (key) => {
    expect(() => checkKey(key)).toThrow(InvalidLockKeyError);
    expect(() => checkKey(key)).toThrow(expect.objectContaining({ key }));
  });

  it.each([[undefined], [null], [42], [{}]])('%p is refused as no string', (key) => {
    expect(() => checkKey(key as string)).toThrow(InvalidLockKeyError);
  });

  it.each(['/a', '/locks/orders/42', '/locks/0000000001', '/locks/größe/数量', '/locks/a b', '/locks/%F0%9F%94%92'])(
    '%s is one',
    (key) => {
      expect(() => checkKey(key)).not.toThrow();
    },
  );

  it.each([
    ['a key of 4 097 characters', `/${'x'.repeat(4_096)}`],
    ['one of 65 segments', '/x'.repeat(65)],
    ['one of 65 longer segments', '/segment'.repeat(65)],
  ])('%s is refused: it would stall the session to make it', (_what, key) => {
    expect(() => checkKey(key)).toThrow(telling('A key has at most 4096 characters and 64 segments'));
    expect(() => checkKey(key)).toThrow(expect.objectContaining({ code: 'INVALID_LOCK_KEY', key }));
  });

  it.each([`/${'x'.repeat(4_095)}`, '/x'.repeat(64), '/segment'.repeat(64)])('the longest are ones', (key) => {
    expect(() => checkKey(key)).not.toThrow();
  });

  it('a very long one is cut in the message, and whole on the error', () => {
    const key = `locks/${'x'.repeat(5_000)}`;
    expect(() => checkKey(key)).toThrow(expect.objectContaining({ key }));
    expect(() => checkKey(key)).toThrow(/^.{0,500}$/s);
  });
});

describe('what a contender says of itself', () => {
  const client = { clientId: 'c', host: 'h', pid: 7 };

  it.each(LOCK_MODES)('comes back as it was said, as %s', (mode) => {
    const facts = { owner: 'o', mode, label: 'Größe "7"', leaseMs: undefined, lockDelayMs: 250, holdMs: 40 };
    const before = Date.now();
    const { askedAt, ...said } = decodeContender(encodeContender(client, facts)) ?? {};
    expect(said).toEqual({ ...client, ...facts });
    expect(askedAt).toBeInstanceOf(Date);
    expect(askedAt?.getTime()).toBeGreaterThanOrEqual(before);
    expect(askedAt?.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it.each(['', 'null', '42', '"text"', '[]', '{', '{}', '{"clientId":1,"owner":2}', '10.0.0.7'])(
    'is not read into the data of others: %j',
    (text) => {
      expect(decodeContender(Buffer.from(text))).toBeUndefined();
    },
  );

  it('is read from a view into a larger buffer', () => {
    const bytes = Buffer.from('xx{"a":1}yy');
    expect(parseObject(bytes.subarray(2, 9))).toEqual({ a: 1 });
  });
});

describe("an upgrade's intent", () => {
  it('names as many readers as a node can hold', () => {
    const names = Array.from({ length: 16_000 }, (_, index) => ours('read', index));
    const data = encodeIntent(names);
    expect(data.length).toBeGreaterThan(900_000);
    expect(namesReader(data, names.at(-1)!)).toBe(true);
  });

  it('names the readers that are inside, and no others', () => {
    const data = encodeIntent([ours('read', 1), ours('read', 2)]);
    expect([1, 2, 3].map((sequence) => namesReader(data, ours('read', sequence)))).toEqual([true, true, false]);
  });

  it.each(['', '{}', '{"readers":"_c_"}', 'null'])(
    'that was not written yet, or by somebody else, names nobody: %j',
    (text) => {
      expect(namesReader(Buffer.from(text), ours('read', 1))).toBe(false);
    },
  );
});

describe('the history of holds', () => {
  it('knows nothing at first, the last hold after one, and leans to the newest', () => {
    const history = new HoldHistory();
    expect(history.averageMs('/a')).toBeUndefined();
    history.record('/a', 100);
    expect(history.averageMs('/a')).toBe(100);
    history.record('/a', 200);
    expect(history.averageMs('/a')).toBe(130);
  });

  it('remembers the thousand keys used last', () => {
    const history = new HoldHistory();
    for (let index = 0; index < 1_000; index += 1) history.record(`/${index}`, 1);
    history.record('/0', 1);
    history.record('/new', 1);
    expect(['/0', '/1', '/2', '/new'].map((key) => history.averageMs(key))).toEqual([1, undefined, 1, 1]);
  });
});

describe('the uplink', () => {
  const given = (): { session: ScriptedSession; uplink: Uplink } => {
    const session = new ScriptedSession();
    return { session, uplink: new Uplink(session.asSession) };
  };

  it('resolves at once while the link is up, and for all who wait when it comes back', async () => {
    const { session, uplink } = given();
    await uplink.whenUp(new Interrupt());
    session.state$.next('suspended');
    const waiting = [uplink.whenUp(new Interrupt()), uplink.whenUp(new Interrupt())];
    session.state$.next('lost');
    session.state$.next('reconnected');
    await Promise.all(waiting);
    session.state$.next('suspended');
    const again = uplink.whenUp(new Interrupt());
    session.state$.next('reconnected');
    await again;
  });

  it('rejects for all who wait, and who ask later, when the session is closed', async () => {
    const { session, uplink } = given();
    session.state$.next('suspended');
    const waiting = rejection(uplink.whenUp(new Interrupt()));
    session.state$.next('closed');
    expect(await waiting).toBeInstanceOf(LockClosedError);
    expect(await rejection(uplink.whenUp(new Interrupt()))).toBeInstanceOf(LockClosedError);
  });

  it('rejects for who is interrupted, also when it is up', async () => {
    const { session, uplink } = given();
    const interrupt = new Interrupt();
    session.state$.next('suspended');
    const waiting = rejection(uplink.whenUp(interrupt));
    const reason = new LockTimeoutError('too late');
    interrupt.raise(reason);
    session.state$.next('reconnected');
    expect(await waiting).toBe(reason);
    expect(await rejection(uplink.whenUp(interrupt))).toBe(reason);
  });

  it('tells every change to those who listen, until they stop', () => {
    const { session, uplink } = given();
    const heard: string[] = [];
    const stop = uplink.onChange((state) => heard.push(state));
    session.state$.next('suspended');
    stop();
    session.state$.next('reconnected');
    expect(heard).toEqual(['suspended']);
  });
});
