import { readFileSync } from 'node:fs';

/**
 * Whether a terminal's keys reach this process: Ctrl-C then goes to all processes of its group, and so to the command, too. On
 * Linux the kernel says so; elsewhere a stream that is a terminal is taken for it.
 */
export function isInForeground(): boolean {
  const isAtTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program may hold blanks and brackets, and ends with the last bracket.
    const [, , group, , , foregroundGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foregroundGroup;
  } catch {
    return isAtTerminal;
  }
}
