import type { Stat } from '../requests.js';
import type { NativeSession } from './protocol.js';

/** A stat as the package gives it: transactions as numbers, and the owner in hexadecimal. */
export interface PackageStat {
  readonly czxid: number;
  readonly mzxid: number;
  readonly pzxid: number;
  readonly ctime: Date;
  readonly mtime: Date;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: string;
  readonly dataLength: number;
  readonly numChildren: number;
}

const SESSION_ID_BITS = 64;
const DIGITS = 10;

export function statOf(stat: PackageStat): Stat {
  return {
    czxid: zxidOf(stat.czxid),
    mzxid: zxidOf(stat.mzxid),
    ctime: stat.ctime.getTime(),
    mtime: stat.mtime.getTime(),
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    ephemeralOwner: sessionIdOf(stat.ephemeralOwner),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
    pzxid: zxidOf(stat.pzxid),
  };
}

export function sessionIdOf(hex: string): bigint {
  return BigInt.asIntN(SESSION_ID_BITS, BigInt(`0x${hex}`));
}

/** A session as the package takes it. */
export function offerOf(sessionId: bigint, password: Uint8Array): NativeSession {
  return {
    id: BigInt.asUintN(SESSION_ID_BITS, sessionId).toString(16),
    // The package reads capital letters only.
    password: Buffer.from(password).toString('hex').toUpperCase(),
  };
}

/** The number at the end of a sequential node's name; NaN where there is none. */
export function sequenceOf(path: string): number {
  return Number.parseInt(path.slice(-DIGITS), 10);
}

/**
 * What the stat of the parent, read behind a create, tells of the new node's zxid: it lies between that one and the zxid
 * of the next sibling, so it orders holders in the same way.
 *
 * A parent counts the children that were created, and shows `cversion` as twice that count less the number of children.
 * A sequential node is numbered by the count before it. So where the sum is twice the number behind the node's own, no
 * child was created since, and the last change of the children is this create, or the removal of a sibling after it.
 *
 * @returns undefined where another child was created since
 */
export function zxidByParent({ cversion, numChildren, pzxid }: Stat, sequence: number): bigint | undefined {
  // The servers count in 32 bits.
  return ((cversion + numChildren) | 0) === ((2 * (sequence + 1)) | 0) ? pzxid : undefined;
}

function zxidOf(value: number): bigint {
  // A double holds 53 bits. A zxid that was rounded could be two holders' token.
  if (!Number.isSafeInteger(value)) throw new Error(`the zxid ${value} is beyond what the package can tell exactly`);
  return BigInt(value);
}
