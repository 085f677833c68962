import { create } from '../../../../../lib/session/requests.js';
import { embeddedEnsemble } from '../../../../../lib/session/simulator/embedded.js';

/** Run as a process of its own: opens a session, creates a node, hangs up, and has nothing left to live for. */
const ensemble = embeddedEnsemble('exit');
const [address] = ensemble.servers;
if (address === undefined) throw new Error('the embedded ensemble has no server');
const link = ensemble.dialer().dial(address, {
  onOpen: () => link.handshake({ sessionId: 0n, password: new Uint8Array(16), timeoutMs: 10_000, lastZxid: 0n }),
  onHandshake: () => void link.send(1, create('/x', 'ephemeral'), ''),
  onActivity: () => undefined,
  onReply: (_xid, errorNumber) => {
    process.stdout.write(`answered ${errorNumber}\n`);
    link.destroy();
  },
  onEvent: () => undefined,
  onClosed: (cause) => process.stdout.write(`closed ${cause.message}\n`),
});
