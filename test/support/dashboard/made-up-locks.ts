import { type LockRow, lockRow, type LockScan, lockScan } from '../../../lib/extras/doctor/lock-scan.js';
import { lockHistory, type LockHistory } from '../../../lib/extras/doctor/lock-history.js';
import type { AbandonedLock } from '../../../lib/lock/abandoned.js';
import { withJson } from '../../../lib/lock/json.js';
import { pastHold } from '../../../lib/lock/past-hold.js';
import {
  type ContenderSnapshot,
  contenderSnapshot,
  lockSnapshot,
  type LockSnapshot,
} from '../../../lib/lock/snapshot.js';

const KINDS = [
  { template: '/locks/orders/:id', label: 'OrdersService.capture', service: 'orders-7d9f6c' },
  { template: '/locks/accounts/:id/settle', label: 'AccountsController.settle', service: 'ledger-5c8b9d' },
  { template: '/locks/inventory/:sku', label: 'StockService.reserve', service: 'stock-66f7d4' },
  { template: '/locks/shipments/:id', label: 'ShipmentsGateway.dispatch', service: 'shipping-84c5b7' },
  { template: '/locks/invoices/:id', label: 'InvoicesService.number', service: 'billing-79b4fc' },
] as const;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const FIRST_TOKEN = 4_294_967_301n;

export interface MadeUpContender {
  readonly label?: string | undefined;
  readonly host?: string;
  readonly pid?: number;
  readonly token?: bigint;
  readonly ageMs?: number;
  readonly mode?: ContenderSnapshot['mode'];
  readonly template?: string | undefined;
}

/** A contender as it would be seen at `at`. */
export function madeUpContender(key: string, given: MadeUpContender, at = new Date()): ContenderSnapshot {
  const {
    label = 'OrdersService.capture',
    host = 'orders-7d9f6c-x2k4p',
    pid = 1,
    token = FIRST_TOKEN,
    ageMs = 1_000,
  } = given;
  const { mode = 'exclusive', template } = given;
  const since = new Date(at.getTime() - ageMs);
  return contenderSnapshot({
    nodePath: `${key}/_c_11111111-1111-4111-a111-111111111111-lock-${token}`,
    mode,
    fencingToken: token,
    sessionId: '0x100007d3c2a0001',
    since,
    ageMs,
    client: {
      clientId: 'client',
      host,
      pid,
      owner: `owner ${token}`,
      label,
      template,
      mode,
      askedAt: since,
      leaseMs: undefined,
      lockDelayMs: undefined,
      holdMs: 900,
    },
  });
}

export function madeUpRow(row: Partial<LockRow> & { readonly key: string }): LockRow {
  const { holders = [], waiting = 0, abandoned } = row;
  const state = holders.length > 0 ? 'HELD' : abandoned === undefined ? 'FREE' : 'EXPIRED';
  const holderAgeMs = holders.length > 0 ? Math.max(...holders.map(({ ageMs }) => ageMs)) : undefined;
  const nothing = { template: undefined, longestWaitMs: undefined, waitedMs: 0 };
  return lockRow({ ...nothing, state, waiting, abandoned, holderAgeMs, ...row, holders });
}

/** So many locks of a shop: most are held for a moment, a few have queues, and one was abandoned. */
export function madeUpScan(count: number, at = new Date()): LockScan {
  return lockScan({ at, unreadable: 0, locks: Array.from({ length: count }, (_, index) => rowOfShop(index, at)) });
}

function rowOfShop(index: number, at: Date): LockRow {
  const { template, label, service } = KINDS[index % KINDS.length]!;
  const key = template.replace(/:\w+/, String(10_000 + ((index * 7919) % 89_989)));
  const token = FIRST_TOKEN + BigInt(index * 3);
  const host = `${service}-${['x2k4p', 'q9w7z', 'm3n8t'][index % 3]}`;
  const waiting = index % 11 === 2 ? ((index * 5) % 23) + 1 : 0;
  const longestWaitMs = waiting === 0 ? undefined : ((index * 61) % 9_000) + waiting * 210;
  // Whoever holds has come before all who wait.
  const isLong = index % 17 === 3;
  const ageMs = (isLong ? (index % 29) * MINUTE_MS + 41_000 : ((index * 137) % 4_000) + 20) + (longestWaitMs ?? 0);
  if (index % 97 === 31)
    return madeUpRow({ key, template, abandoned: madeUpAbandoned(label, host, token, at), waiting });
  const holder = madeUpContender(key, { label, host, pid: 1, token, ageMs, template }, at);
  return madeUpRow({
    key,
    template,
    holders: [holder],
    waiting,
    longestWaitMs,
    waitedMs: waiting * (longestWaitMs ?? 0),
  });
}

export function madeUpAbandoned(label: string, host: string, token: bigint, at = new Date()): AbandonedLock {
  const since = new Date(at.getTime() - 12 * MINUTE_MS);
  const checkpoint = { step: 'debited', transfer: 'T-20417' };
  const facts = { label, host, pid: 1, token, since, checkpoint, recoverer: undefined };
  return withJson(facts, () => ({ ...facts, token: String(token), since: since.toJSON() }));
}

/** One lock with a holder, a queue, and a past in which one hold was broken. */
export function madeUpSnapshot(key: string, at = new Date()): LockSnapshot {
  const template = '/locks/accounts/:id/settle';
  const process = (name: string): string => `ledger-5c8b9d-${name}`;
  const label = 'AccountsController.settle';
  const one = (host: string, ageMs: number, token: bigint, name = label): ContenderSnapshot =>
    madeUpContender(key, { label: name, host: process(host), token: FIRST_TOKEN + token, ageMs, template }, at);
  return lockSnapshot({
    key,
    state: 'HELD',
    holders: [one('q9w7z', 41 * SECOND_MS, 96n)],
    queue: [
      one('x2k4p', 38 * SECOND_MS, 99n),
      one('m3n8t', 22 * SECOND_MS, 103n),
      one('x2k4p', 17 * SECOND_MS, 104n, 'NightlyStatements.run'),
      one('q9w7z', 4_200, 110n),
    ],
    queueLength: 4,
    abandoned: undefined,
    waitEstimateMs: 52 * SECOND_MS,
  });
}

/** A key that is closed until somebody has put right what was left. */
export function abandonedSnapshot(key: string): LockSnapshot {
  const abandoned = madeUpAbandoned('Transfers.book', 'ledger-5c8b9d-q9w7z', FIRST_TOKEN + 31n);
  const rest = { holders: [], queue: [], queueLength: 0, waitEstimateMs: undefined };
  return lockSnapshot({ key, state: 'EXPIRED', abandoned, ...rest });
}

export function madeUpHistory(key: string, at = new Date()): LockHistory {
  const holds = Array.from({ length: 9 }, (_, index) => {
    const since = new Date(at.getTime() - 44 * SECOND_MS - index * 19 * SECOND_MS);
    const isBroken = index === 3;
    return pastHold({
      token: FIRST_TOKEN + BigInt(90 - index * 4),
      mode: 'exclusive',
      label: index % 4 === 2 ? 'NightlyStatements.run' : 'AccountsController.settle',
      host: `ledger-5c8b9d-${['x2k4p', 'q9w7z', 'm3n8t'][index % 3]}`,
      pid: 1,
      since,
      waitedMs: index % 2 === 0 ? 320 + index * 410 : 0,
      heldMs: isBroken ? 15_400 : 1_900 + ((index * 3_733) % 9_000),
      ended: isBroken ? 'removed' : 'released',
    });
  });
  return lockHistory({ key, holds, dropped: 0 });
}
