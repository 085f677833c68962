import { constants, getPriority, setPriority } from 'node:os';

// A file that computes gives way to the files that wait for servers, and to their servers: those have the processor when they need
// it, and it has what they leave. A worker plays files of both kinds, so each file says again which it is.
const usual = getPriority(process.ppid);
setPriority(
  Math.min(
    constants.priority.PRIORITY_LOW,
    usual + (globalThis.COMPUTES ? constants.priority.PRIORITY_BELOW_NORMAL : 0),
  ),
);
