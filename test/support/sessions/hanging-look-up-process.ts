import { open } from 'node:fs/promises';
import { Resolver } from 'node:dns/promises';
import { LookupGate } from '../../../lib/session/wire/name-resolver.js';
import { nameServersSpeak } from '../../../lib/session/wire/name-servers.js';
import { onParentMessage, sendToParent } from '../process/parent.js';
import { Stalls } from '../process/stalls.js';
import { openWire } from './wire-session.js';

/**
 * Looks for a server by a name, with these name servers, and ends by itself once it was told to close. A look-up of the
 * system would hang as one does against dead name servers, only longer: its thread waits for a writer of this pipe.
 */
const [nameServer = '', pipe = ''] = process.argv.slice(2);
const gate = new LookupGate(
  async () => {
    await open(pipe, 'r');
    return [];
  },
  (host, signal) => {
    const client = new Resolver();
    client.setServers([nameServer]);
    return nameServersSpeak(host, signal, client, () => '');
  },
);
const session = openWire([{ host: 'zk1.test', port: 2181 }], { dialer: { resolver: gate } });
const stopListening = onParentMessage(() => void close());
await sendToParent({ type: 'ready' });

async function close(): Promise<void> {
  stopListening();
  await session.close(500);
  const stalls = Stalls.watch();
  const closedAt = performance.now();
  process.on('exit', () => {
    process.stdout.write(`${Math.round(performance.now() - closedAt - stalls.totalMs)}`);
  });
  process.disconnect();
}
