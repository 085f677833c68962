import type { DashboardDoctor } from '../../../lib/extras/dashboard/live-locks.js';
import { withJson } from '../../../lib/lock/json.js';
import type { LockScan } from '../../../lib/extras/doctor/lock-scan.js';
import { graphOfShop } from './made-up-graph.js';
import { abandonedSnapshot, madeUpHistory, madeUpScan, madeUpSnapshot } from './made-up-locks.js';

/** The key whose last holder vanished. */
export const ABANDONED_KEY = '/locks/transfers/20417';

/** A doctor whose locks are made up: for pages with more of them than a test can take. */
export class ScriptedDoctor implements DashboardDoctor {
  /** The calls, in their order. */
  readonly calls: string[] = [];
  locks = (): LockScan => madeUpScan(10_000);

  scan: () => Promise<LockScan> = async () => {
    this.calls.push('scan');
    return this.locks();
  };

  readonly graph: DashboardDoctor['graph'] = async () => {
    this.calls.push('graph');
    return graphOfShop();
  };

  readonly inspect: DashboardDoctor['inspect'] = async (key) => {
    this.calls.push(`inspect ${key}`);
    return key === ABANDONED_KEY ? abandonedSnapshot(key) : madeUpSnapshot(key);
  };

  readonly history: DashboardDoctor['history'] = async (key) => madeUpHistory(key);

  readonly break: DashboardDoctor['break'] = async (key, { token }) => {
    this.calls.push(`break ${key}`);
    return withJson({ key, token, nodePath: `${key}/node`, ended: 'in order', tookMs: 1 });
  };

  readonly drain: DashboardDoctor['drain'] = async (key) => withJson({ key, removed: 4 });

  readonly clear: DashboardDoctor['clear'] = async (key) => {
    throw new Error(`Nobody clears ${key} here`);
  };

  readonly close: DashboardDoctor['close'] = async () => void this.calls.push('close');
}
