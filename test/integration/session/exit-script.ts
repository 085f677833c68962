import { create, get } from '../../../lib/session/requests.js';
import { Stalls } from '../../support/process/stalls.js';
import { openWire, untilUp } from '../../support/sessions/wire-session.js';

/** Uses a session, closes it in the state it is told, and prints how many milliseconds later the process ends by itself, stalls left out. */
const [port = '', when = ''] = process.argv.slice(2);
const session = openWire([Number(port)], { sessionTimeoutMs: 10_000 });
if (when !== 'connecting') {
  await untilUp(session);
  session.keepCertain();
  await session.batch([create('/exit', 'ephemeral'), get('/exit', { onWatchEvent: () => undefined })]);
}
await session.close(500);
const stalls = Stalls.watch();
const closedAt = performance.now();
process.on('exit', () => process.stdout.write(`${Math.round(performance.now() - closedAt - stalls.totalMs)}\n`));
if (process.channel !== undefined) process.disconnect();
