import { create, exists } from '../../../lib/session/requests.js';
import { onParentMessage, sendToParent } from '../../support/process/parent.js';
import { openWire, untilUp } from '../../support/sessions/wire-session.js';
import { replyTo } from '../../support/sessions/reply-to.js';

/**
 * A process that holds an ephemeral node, for tests that stop it. It reports on its certainty when it goes on, from a timer
 * that has been overdue since: the first code that runs. Any message asks for what has become of the session.
 */
const [port = '', timeoutMs = '', stoodStillMs = ''] = process.argv.slice(2);
const session = openWire([Number(port)], { sessionTimeoutMs: Number(timeoutMs) });
await untilUp(session);
session.keepCertain();
await replyTo(session, create('/held', 'ephemeral'));

let lastTurnAt = performance.now();
setInterval(() => {
  const now = performance.now();
  const missedMs = now - lastTurnAt;
  lastTurnAt = now;
  // Less was the machine, not the test.
  if (missedMs < Number(stoodStillMs)) return;
  void sendToParent({ type: 'woke', state: session.state, certain: session.certainUntil() > now });
}, 20);

onParentMessage(() => {
  void (async () => {
    await untilUp(session);
    const found = await replyTo(session, exists('/held'));
    await sendToParent({ type: 'report', sessionId: session.identity?.id, held: found !== undefined });
  })();
});

const certain = session.certainUntil() > performance.now();
await sendToParent({ type: 'ready', sessionId: session.identity?.id, certain });
