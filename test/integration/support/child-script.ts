import { onParentMessage, sendToParent } from '../../support/process/parent.js';

/** Answers what the test of `startNodeChild` asks, and counts while it is not paused. */
const stopListening = onParentMessage((message) => {
  switch (message) {
    case 'double':
      void sendToParent({ type: 'doubled', value: 2n ** 62n });
      break;
    case 'finish':
      stopListening();
      clearInterval(counting);
      break;
    default:
      throw new Error(`Cannot do '${String(message)}'.`);
  }
});

let count = 0;
const counting = setInterval(() => {
  count += 1;
  void sendToParent({ type: 'count', count });
}, 5);

await sendToParent({ type: 'ready', argument: process.argv[2], variable: process.env['FROM_TEST'] });
