import { readdirSync, readFileSync } from 'node:fs';

/**
 * Tells whether a terminal's keys reach this process: Ctrl-C then goes to all processes of its group, and so to the command, too. On
 * Linux the kernel says so; elsewhere a stream that is a terminal is taken for it.
 */
export function isInForeground(): boolean {
  const own = statOf('self');
  if (own === undefined) return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
  return own.group === own.foregroundGroup;
}

/** Tells whether a process of this group still runs. */
export function isGroupRunning(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // A container without an init process keeps the dead, whom a signal reaches all the same.
  if (statOf('self') === undefined) return true;
  const isNumber = /^\d+$/;
  return readdirSync('/proc').some((name) => {
    const found = isNumber.test(name) ? statOf(name) : undefined;
    return found !== undefined && found.group === `${group}` && found.state !== 'Z';
  });
}

interface ProcessStat {
  readonly state: string;
  readonly group: string;
  readonly foregroundGroup: string;
}

/** @returns undefined where there is no such process, or no Linux that tells of processes */
function statOf(pid: string): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program may hold blanks and brackets, and ends with the last bracket.
    const [state = '', , group = '', , , foregroundGroup = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, group, foregroundGroup };
  } catch {
    return undefined;
  }
}
