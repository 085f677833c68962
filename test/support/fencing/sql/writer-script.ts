import { onParentMessage, sendToParent } from '../../process/parent.js';
import { connectTo } from './connect.js';
import type { SqlPlace } from './sql-world.js';
import { addEntry } from './writer.js';

/**
 * A process that writes once. It stands still at both sides of the claim, until it is told to go on: there a test stops it, or
 * kills it.
 */
export interface WriterScriptSettings {
  readonly place: SqlPlace;
  readonly token: string;
  readonly entry: string;
}

const { place, token, entry } = JSON.parse(process.argv[2] ?? '{}') as WriterScriptSettings;
let goOn: () => void = () => undefined;
let told = new Promise<void>((resolve) => (goOn = resolve));
onParentMessage(() => goOn());

async function standStill(type: string): Promise<void> {
  await sendToParent({ type });
  await told;
  told = new Promise<void>((resolve) => (goOn = resolve));
}

const connection = await connectTo(place);
await standStill('before the claim');
const outcome = await addEntry(connection, BigInt(token), entry, { afterClaim: () => standStill('after the claim') });
await connection.close();
await sendToParent({ type: 'done', outcome });
process.exit();
