import { failedWith, SessionError } from '../../../lib/session/errors.js';
import { get, type GetRequest, type Outcome } from '../../../lib/session/requests.js';
import type { LockStage } from '../locks/lock-stage.js';
import { TICK_MS } from '../locks/times.js';
import { eventually } from '../process/eventually.js';
import { compileScript } from '../typescript/compiled-script.js';
import { clearWorkspace } from '../zookeeper/workspace.js';
import { readRecord, type RawRecord } from './raw-record.js';
import type { Step } from './steps.js';
import { Till } from './till.js';

/** Long enough for a machine that starts processes meanwhile, and short enough to be waited for in each round. */
const SESSION_MS = 4 * TICK_MS;

/** In the middle of a transfer, and of the recovery from that; and when all was given back. */
const BEGINS: readonly (readonly Step[])[] = [['wrote one', 'repaired one'], ['released']];

export interface Play {
  readonly rounds: number;
  /** Tills whose processes repair what others have left, and tills whose processes do not. */
  readonly recovering: number;
  readonly careless: number;
}

/** So many rounds at so many tills at once: in each a process is killed at each till, and a next one comes when its session has ended. */
export async function playKillRounds(
  stage: LockStage,
  { rounds, recovering, careless }: Play,
): Promise<{ recovering: Till[]; careless: Till[] }> {
  const { path: script, folder } = await compileScript(new URL('./transfer-script.ts', import.meta.url), {
    packages: ['rxjs'],
  });
  const open = (count: number, recovers: boolean): Promise<Till[]> => {
    const common = { script, folder, connect: stage.connect, sessionMs: SESSION_MS, tickMs: TICK_MS, recovers };
    const names = Array.from(
      { length: count },
      (_, index) => `/tills/${recovers ? 'recovering' : 'careless'}-${index}`,
    );
    return Promise.all(names.map((name, index) => Till.open(name, { ...common, begin: BEGINS[index] ?? [] })));
  };
  const tills = { recovering: await open(recovering, true), careless: await open(careless, false) };
  const all = [...tills.recovering, ...tills.careless];
  try {
    for (let round = 0; round <= rounds; round += 1) {
      // The next processes start while the servers still wait for the sessions of the dead.
      await Promise.all([...all.map((till) => till.prepare()), untilNoSession(stage)]);
      if (round > 0) await closeEach(stage, all);
      await Promise.all(all.map((till) => (round < rounds ? till.playToDeath() : till.playToTheEnd())));
    }
    await untilNoSession(stage);
    await closeEach(stage, all);
    return tills;
  } finally {
    await Promise.all(all.map((till) => till.kill()));
    await clearWorkspace(folder, []);
  }
}

/** All that the dead have asked for was carried out, or is lost. */
async function untilNoSession(stage: LockStage): Promise<void> {
  await stage.operator();
  await eventually('the sessions of the dead have ended', async () => (await stage.sessionIds()).length === 1);
}

async function closeEach(stage: LockStage, tills: readonly Till[]): Promise<void> {
  const operator = await stage.operator();
  const read = await operator.batch(tills.map(({ key }) => get(key)));
  await Promise.all(tills.map((till, index) => till.close(recordIn(read[index]!))));
}

function recordIn(read: Outcome<GetRequest>): RawRecord {
  // Who was killed early has made no node.
  if (failedWith(read, 'NO_NODE')) return {};
  if (read instanceof SessionError) throw read;
  return readRecord(read.data);
}
