import type { Command } from '../command.js';
import { breakCommand } from './break.js';
import { check } from './check.js';
import { clear } from './clear.js';
import { doctor } from './doctor.js';
import { drain } from './drain.js';
import { graph } from './graph.js';
import { history } from './history.js';
import { ls } from './ls.js';
import { run } from './run.js';
import { show } from './show.js';
import { watch } from './watch.js';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [
  ls,
  show,
  watch,
  graph,
  history,
  doctor,
  check,
  breakCommand,
  drain,
  clear,
  run,
];
