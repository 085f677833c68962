import { listedNode, type ListedNode } from '../../../../../lib/extras/doctor/look/lock-tree.js';
import { type SeenKey, seenKey } from '../../../../../lib/extras/doctor/look/seen-key.js';
import type { LockMode } from '../../../../../lib/lock/mode.js';
import { encodeIntent } from '../../../../../lib/queue/intent-data.js';
import type { KeyRecord } from '../../../../../lib/queue/key-record.js';
import { encodeContender } from '../../../../../lib/queue/node-data.js';
import type { NodeData, Stat } from '../../../../../lib/session/requests.js';
import { idOf, ours } from '../../../queue/names.js';

/** "Now" in what is made here. */
export const NOW_MS = 1_700_000_000_000;
/** The sessions that own the nodes are numbered from here. */
const SESSION = 0x100000000n;

/** A contender as a test describes it. */
export interface GivenContender {
  readonly owner: string;
  readonly mode?: LockMode;
  readonly ageMs?: number;
  readonly label?: string;
  readonly template?: string;
  readonly host?: string;
  /** undefined for the usual session 1. */
  readonly session?: number;
  /** It is an upgrader's second node, which names these readers by their places in the queue, from 0. */
  readonly upgrades?: number;
  readonly readers?: readonly number[];
  /** In place of a name and of data of ours. */
  readonly name?: string;
  readonly data?: string;
  readonly ephemeralOwner?: bigint;
}

/** A node's stat, of which only what matters has to be said. */
export function statOf(some: Partial<Stat>): Stat {
  return {
    czxid: 1n,
    mzxid: 1n,
    pzxid: 1n,
    ctime: NOW_MS,
    mtime: NOW_MS,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0n,
    dataLength: 0,
    numChildren: 0,
    ...some,
  };
}

export interface KeyFacts {
  readonly record?: KeyRecord;
  readonly stat?: Partial<Stat>;
  /** Other children. */
  readonly children?: readonly string[];
}

/** A key as it is seen with these contenders in its queue, the first one first. */
export function seenWith(key: string, contenders: readonly GivenContender[], facts: KeyFacts = {}): SeenKey {
  const names = contenders.map((contender, index) => nameOf(contender, index));
  const found = new Map<string, NodeData>(
    contenders.map((contender, index) => {
      const data = Buffer.from(dataOf(contender, names));
      const ctime = NOW_MS - (contender.ageMs ?? 0);
      const ephemeralOwner = contender.ephemeralOwner ?? SESSION + BigInt(contender.session ?? 1);
      return [
        names[index]!,
        { data, stat: statOf({ czxid: BigInt(index + 1), ctime, ephemeralOwner, dataLength: data.length }) },
      ];
    }),
  );
  const listed = listedWith(key, [...names, ...(facts.children ?? [])], facts.stat);
  return seenKey(key, listed, { found, record: facts.record ?? {} }, NOW_MS);
}

export function listedWith(path: string, children: readonly string[], stat: Partial<Stat> = {}): ListedNode {
  return listedNode(path, statOf({ numChildren: children.length, cversion: children.length, ...stat }), children);
}

function nameOf({ mode = 'exclusive', name, upgrades }: GivenContender, index: number): string {
  return name ?? (upgrades === undefined ? ours(mode, index) : ours('write', index, idOf(upgrades)));
}

function dataOf(
  { owner, mode = 'exclusive', upgrades, readers, data, ...rest }: GivenContender,
  names: readonly string[],
): string {
  if (data !== undefined) return data;
  if (upgrades !== undefined)
    return readers === undefined ? '' : Buffer.from(encodeIntent(readers.map((at) => names[at]!))).toString();
  const { label, template, host = 'web-1' } = rest;
  const facts = { owner, mode, label, template, leaseMs: undefined, lockDelayMs: undefined, holdMs: undefined };
  return encodeContender({ clientId: `client of ${host}`, host, pid: 7 }, facts, NOW_MS);
}
