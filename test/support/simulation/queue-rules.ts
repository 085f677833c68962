import type { LockMode } from '../../../lib/lock/mode.js';

/** One contender, read from its name. Written a second time, not imported: a checker must not share the mistakes of what it checks. */
export interface Contender {
  readonly mode: LockMode;
  readonly sequence: number;
  readonly id: string;
  /** Its name says that it writes into the record of the key. */
  readonly usesRecord: boolean;
}

const NAME = /^_c_([0-9a-f-]{36})-(lock-|__WRIT__|__READ__|upgr-__READ__)(-?\d{10})$/;
/** The digit of the id that says so. */
const VARIANT_AT = 19;
const MODES: Readonly<Record<string, LockMode>> = {
  'lock-': 'exclusive',
  __WRIT__: 'write',
  __READ__: 'read',
  'upgr-__READ__': 'upgradeable',
};

/** @returns undefined for what does not queue */
export function readName(name: string): Contender | undefined {
  const [, id, kind, sequence] = NAME.exec(name) ?? [];
  const mode = kind === undefined ? undefined : MODES[kind];
  if (id === undefined || mode === undefined) return undefined;
  return { id, mode, sequence: Number(sequence), usesRecord: id[VARIANT_AT] === 'b' };
}

/** Whether two may hold at the same time. */
export function compatible(one: LockMode, other: LockMode): boolean {
  if (one === 'read') return other === 'read' || other === 'upgradeable';
  return one === 'upgradeable' && other === 'read';
}

/** Whether holders of this mode may write, so that their tokens count. */
export function mayWrite(mode: LockMode): boolean {
  return mode !== 'read';
}
