import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { createLockService } from '../../../lib/open.js';
import { onParentMessage, sendToParent } from '../../support/process/parent.js';

/**
 * One of several processes that sell from the same stock. The store is a number in a file, without transactions: what
 * somebody else writes between this one's reading and writing is lost.
 */
const [connect = '', stockPath = '', ledgerPath = '', sessionMs = ''] = process.argv.slice(2);
const locks = await createLockService({
  connect,
  serverTickMs: 500,
  sessionTimeoutMs: Number(sessionMs),
  waitMs: 20_000,
});
let goOn: () => void = () => undefined;

async function sellOne(whileItIsDone: () => Promise<void>): Promise<boolean> {
  const stock = Number(await readFile(stockPath, 'utf8'));
  if (stock === 0) return false;
  await whileItIsDone();
  await writeFile(stockPath, String(stock - 1));
  await appendFile(ledgerPath, `${process.pid}\n`);
  return true;
}

function locked(whileItIsDone: () => Promise<void>): Promise<boolean> {
  return locks.withLock('/inventory', () => sellOne(whileItIsDone));
}

async function untilToldToGoOn(): Promise<void> {
  const told = new Promise<void>((resolve) => (goOn = resolve));
  await sendToParent({ type: 'in the middle' });
  await told;
}

const atOnce = async (): Promise<void> => undefined;

async function obey(message: unknown): Promise<void> {
  switch (message) {
    case 'sell without the lock':
      await sendToParent({ type: 'done', isSold: await sellOne(atOnce) });
      break;
    case 'sell slowly without the lock':
      await sendToParent({ type: 'done', isSold: await sellOne(untilToldToGoOn) });
      break;
    case 'sell':
      await sendToParent({ type: 'done', isSold: await locked(atOnce) });
      break;
    case 'sell slowly':
      await sendToParent({ type: 'done', isSold: await locked(untilToldToGoOn) });
      break;
    case 'sell all': {
      let sold = 0;
      while (await locked(atOnce)) sold += 1;
      await sendToParent({ type: 'sold out', sold });
      break;
    }
    case 'go on':
      goOn();
      break;
    default:
      throw new Error(`Cannot do '${String(message)}'.`);
  }
}

onParentMessage((message) => void obey(message));
await sendToParent({ type: 'open' });
