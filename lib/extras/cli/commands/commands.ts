import type { Command } from '../command.js';
import { breakCommand } from './break.js';
import { check } from './check.js';
import { clear } from './clear.js';
import { drain } from './drain.js';
import { run } from './run.js';
import { show } from './show.js';
import { watch } from './watch.js';

/** In the order of the help. */
export const COMMANDS: readonly Command[] = [show, watch, check, breakCommand, drain, clear, run];
