import { sendToParent } from '../../support/process/parent.js';
import { openWire, untilUp } from '../../support/sessions/wire-session.js';
import { runCycles } from './heap.js';

/** Reports how much the heap has grown over so many cycles, after as many to warm up as one tenth of them. */
const [port = '', cycles = ''] = process.argv.slice(2);
const session = openWire([Number(port)], { sessionTimeoutMs: 10_000 });
await untilUp(session);

function heapBytes(): number {
  if (globalThis.gc === undefined) throw new Error('Start this script with --expose-gc.');
  for (let round = 0; round < 4; round += 1) globalThis.gc();
  return process.memoryUsage().heapUsed;
}

await runCycles(session, Math.max(2_000, Number(cycles) / 10));
const before = heapBytes();
await runCycles(session, Number(cycles));
await sendToParent({ type: 'grown', bytes: heapBytes() - before, state: session.state });
await session.close();
if (process.channel !== undefined) process.disconnect();
