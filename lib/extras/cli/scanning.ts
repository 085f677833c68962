import type { ScanOptions } from '../doctor/lock-scan.js';
import type { Call } from './command.js';
import { countText } from './words.js';

/** Chooses the part of the tree that the operand names, and shows progress to somebody who waits: a large tree takes a while. */
export function scanOptions({ operands, terminal }: Call): ScanOptions {
  const [prefix] = operands;
  return {
    ...(prefix === undefined ? {} : { prefix }),
    onProgress: ({ nodes, locks }) =>
      terminal.progress(`${countText(nodes, 'node')} read, ${countText(locks, 'lock')}`),
  };
}
