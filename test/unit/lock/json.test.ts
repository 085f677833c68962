import { describe, expect, it } from '@jest/globals';
import { LockEvents } from '../../../lib/engine/bounds/owner-context.js';
import { LockConfigurationError, LockLostError, LockTimeoutError } from '../../../lib/lock/errors.js';
import type { LockEvent, LockEventFacts } from '../../../lib/lock/events.js';
import { type ClientDescription, contenderSnapshot, lockSnapshot } from '../../../lib/lock/snapshot.js';

const KEY = '/tenants/acme';
const OF_LOCK = { key: KEY, mode: 'exclusive', label: 'me', template: '/tenants/:id', owner: 'caller' } as const;
const TOKEN = 2n ** 62n + 1n;
const EVIDENCE = { lastProofAgeMs: undefined, linkDownMs: 0, loopStalledMs: 0, sessionTimeoutMs: 10_000 };

function published(facts: LockEventFacts): LockEvent {
  const events = new LockEvents();
  const told: LockEvent[] = [];
  events.subscribe((event) => told.push(event));
  events.next(facts);
  return told[0]!;
}

const lost = new LockLostError(`The lock ${KEY} was lost: zk1:2181 said nothing`, KEY, { evidence: EVIDENCE });
const refused = new LockConfigurationError('acl: zk1:2181 answered NO_AUTH');
const circular: Error & { self?: unknown } = new TypeError('of its own');
circular.self = circular;

const EVENTS: [LockEventFacts, object][] = [
  [
    { ...OF_LOCK, type: 'acquired', token: TOKEN, waitedMs: 1 },
    { token: String(TOKEN), waitedMs: 1 },
  ],
  [
    { ...OF_LOCK, type: 'released', token: TOKEN, waitedMs: 2, heldMs: 1 },
    { token: String(TOKEN), heldMs: 1 },
  ],
  [
    {
      ...OF_LOCK,
      type: 'lost',
      token: TOKEN,
      reason: 'removed',
      waitedMs: 2,
      heldMs: 1,
      error: lost,
      evidence: EVIDENCE,
    },
    { token: String(TOKEN), reason: 'removed', error: { code: 'LOCK_LOST', message: 'The lock was lost' } },
  ],
  [
    { ...OF_LOCK, type: 'failed', error: new LockTimeoutError(KEY, KEY), waitedMs: 1, busy: true },
    { error: { name: 'LockTimeoutError', code: 'LOCK_TIMEOUT', status: 423 } },
  ],
  [
    { ...OF_LOCK, type: 'failed', error: circular, waitedMs: 1, busy: false },
    { error: { name: 'TypeError', message: 'of its own' } },
  ],
  [{ ...OF_LOCK, type: 'requeued', reason: 'removed' }, { reason: 'removed' }],
  [{ ...OF_LOCK, type: 'late-result', token: undefined, error: undefined }, {}],
  [{ ...OF_LOCK, type: 'late-result', token: TOKEN, error: null }, { error: { name: 'object', message: 'null' } }],
  [{ ...OF_LOCK, type: 'late-result', token: TOKEN, error: 7n }, { error: { name: 'bigint', message: '7n' } }],
  [
    { ...OF_LOCK, type: 'not-removed', nodePath: `${KEY}/lock-1`, error: refused },
    { nodePath: `${KEY}/lock-1`, error: { code: 'LOCK_CONFIGURATION' } },
  ],
  [{ ...OF_LOCK, type: 'degraded' }, {}],
];

describe('JSON', () => {
  it.each(EVENTS)(
    'has the facts of the event %#, the token in digits, and of an error what anybody may read',
    (facts, rest) => {
      const text = JSON.stringify(published({ ...facts }));
      const { error, ...all } = JSON.parse(text) as Record<string, unknown>;

      expect({ ...all, error }).toMatchObject({ ...OF_LOCK, type: facts.type, ...rest });
      expect(text).not.toMatch(/zk1|2181|NO_AUTH/);
      expect(JSON.stringify(error) ?? '').not.toContain(KEY);
    },
  );

  const client: ClientDescription = {
    ...{ clientId: 'c', owner: 'o', host: 'h', pid: 7, label: undefined, template: '/k/:id', mode: 'read' },
    ...{ askedAt: new Date(1_500), leaseMs: undefined, lockDelayMs: undefined, holdMs: 40 },
  };
  const contender = contenderSnapshot({
    nodePath: `${KEY}/lock-1`,
    mode: 'read',
    fencingToken: TOKEN,
    sessionId: '0x1',
    since: new Date(0),
    ageMs: 1,
    client,
  });
  const facts = { key: KEY, state: 'HELD', queueLength: 1, waitEstimateMs: undefined, abandoned: undefined } as const;
  const snapshot = lockSnapshot({ ...facts, holders: [contender], queue: [contender] });

  it('has all of a snapshot, the tokens in digits, the dates as ISO text', () => {
    const shown = {
      nodePath: `${KEY}/lock-1`,
      mode: 'read',
      fencingToken: String(TOKEN),
      sessionId: '0x1',
      since: '1970-01-01T00:00:00.000Z',
      ageMs: 1,
      client: {
        ...{ clientId: 'c', owner: 'o', host: 'h', pid: 7, template: '/k/:id', mode: 'read', holdMs: 40 },
        askedAt: '1970-01-01T00:00:01.500Z',
      },
    };
    const all = { key: KEY, state: 'HELD', queueLength: 1, holders: [shown], queue: [shown] };
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(all);
    // A copy of the outer object has lost its method, the contenders have theirs.
    expect(JSON.parse(JSON.stringify({ ...snapshot, more: 1 }))).toEqual({ ...all, more: 1 });
    // What walks through members, as serializers of classes do, finds nothing that JSON could not say.
    expect(structuredClone(snapshot.toJSON())).toMatchObject(all);
  });

  it('is all that the method is for: copies, comparisons and clones see the facts', () => {
    expect(Object.keys(contender)).not.toContain('toJSON');
    expect(structuredClone(snapshot)).toMatchObject({ ...facts, holders: [{ fencingToken: TOKEN }] });
    expect(snapshot).toEqual({ ...facts, holders: [{ ...contender }], queue: [{ ...contender }] });
  });

  it('can be made of a contender with a date that is none', () => {
    const odd = contenderSnapshot({ ...contender, since: new Date(NaN) });
    expect(JSON.parse(JSON.stringify(odd))).toMatchObject({ since: null });
  });

  it('says nothing of the client of a contender of another make', () => {
    const foreign = contenderSnapshot({ ...contender, client: undefined });
    expect(JSON.parse(JSON.stringify(foreign))).not.toHaveProperty('client');
  });
});
