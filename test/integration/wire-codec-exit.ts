import { set } from '../../lib/session/requests.js';
import { SocketDialer } from '../../lib/session/wire/socket-dialer.js';
import { Stalls } from '../support/process/stalls.js';
import { OpenLink } from './wire-codec-open-link.js';

/** Uses a link, destroys it, and prints how many milliseconds later the process ended by itself, stalls left out. */
const client = new OpenLink(new SocketDialer({ acl: [] }), '127.0.0.1', Number(process.argv[2]));
await Promise.race([client.connected, client.closed]);
for (let xid = 1; xid <= 10; xid += 1) client.link.send(xid, set('/a', Buffer.alloc(1_000_000), -1), '');
await new Promise(setImmediate);
const stalls = Stalls.watch();
const destroyedAt = performance.now();
client.link.destroy();
process.on('exit', () => process.stdout.write(String(Math.round(performance.now() - destroyedAt - stalls.totalMs))));
