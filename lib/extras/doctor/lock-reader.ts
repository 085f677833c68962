import type { SessionAccess } from '../../engine/lock-service.js';
import { ACQUIRE_RULES } from '../../lock/acquire-options.js';
import { checkIsObject, checkOptions, must, MUST_BE_COUNT_OR_INFINITY } from '../../lock/option-rules.js';
import { examine } from './findings/examine.js';
import { Marks } from './findings/zxid-clock.js';
import type { ExamineOptions, LockExamination } from './lock-examination.js';
import { type LockHistory, lockHistory } from './lock-history.js';
import { type PastHold, pastHold } from '../../lock/past-hold.js';
import { decodeHistory, historyPath, type KeptHold } from '../../queue/hold-history.js';
import { PatientLink } from '../../session/patient-link.js';
import { ANSWER_WITHIN_MS } from './doctor-options.js';
import type { LockScan, ScanOptions } from './lock-scan.js';
import { graphOf } from './graph/graph-of.js';
import { lookAround } from './look/look-around.js';
import { scanOf } from './look/lock-row.js';
import type { WaitGraph } from './wait-graph.js';

const SCAN_RULES = {
  prefix: must('an absolute path', (value) => typeof value === 'string'),
  signal: ACQUIRE_RULES.signal,
  onProgress: must('a function of the progress', (value) => typeof value === 'function'),
};
const MUST_BE_TIME = must(
  'a number of milliseconds, 0 or more, or Infinity',
  (value) => typeof value === 'number' && value >= 0,
);
const MUST_BE_WORDS = must(
  "words of the command line, such as ['--connect', 'zk1:2181']",
  (value) => Array.isArray(value) && value.every((word) => typeof word === 'string'),
);
const EXAMINE_RULES = {
  ...SCAN_RULES,
  longHoldMs: MUST_BE_TIME,
  longQueue: MUST_BE_COUNT_OR_INFINITY,
  lineOptions: MUST_BE_WORDS,
};

/** The reading side of a doctor: it writes nothing. */
export class LockReader {
  readonly #marks = new Marks();

  constructor(private readonly access: () => SessionAccess) {}

  async scan(options: ScanOptions): Promise<LockScan> {
    check('scan', options, SCAN_RULES);
    return scanOf(await lookAround(this.access(), options));
  }

  async graph(options: ScanOptions): Promise<WaitGraph> {
    check('graph', options, SCAN_RULES);
    return graphOf((await lookAround(this.access(), options)).keys);
  }

  async history(key: string): Promise<LockHistory> {
    const { session, namespace, waitMs, queuePathOf } = this.access();
    queuePathOf(key);
    const read = await new PatientLink(session, key, waitMs || ANSWER_WITHIN_MS).read(historyPath(namespace, key));
    const { holds, dropped } = decodeHistory(read?.data ?? new Uint8Array(0));
    // Tokens rise in the order in which the lock was given out. Processes write in another order, each a while later.
    const ofKey = holds.filter((hold) => hold.key === key).sort((one, other) => (one.token < other.token ? 1 : -1));
    return lockHistory({ key, holds: ofKey.map(pastHoldOf), dropped });
  }

  async examine(options: ExamineOptions): Promise<LockExamination> {
    check('examine', options, EXAMINE_RULES);
    return examine(this.access(), options, this.#marks);
  }
}

function check(step: string, options: object, rules: Parameters<typeof checkOptions>[1]): void {
  checkIsObject(`${step}:`, options, " such as { prefix: '/locks' }");
  checkOptions(options, rules);
}

function pastHoldOf({ token, mode, label, host, pid, since, waitedMs, heldMs, ended }: KeptHold): PastHold {
  return pastHold({ token, mode, label, host, pid, since, waitedMs, heldMs, ended });
}
