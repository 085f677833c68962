import { LockConfigurationError } from '../../lock/errors.js';
import type { FaultArguments, FaultName } from './fault-arguments.js';
import { describe, isMilliseconds } from './simulator-options.js';
import type { SimulatorFaults } from './simulator-faults.js';

/** One fault and its time: `{ atMs: 2_000, fault: 'killServer', with: [2] }`. With clients by name it is plain JSON. */
export type PlannedFault = {
  readonly [Name in FaultName]: {
    /** The time of the fault, in milliseconds from now. */
    readonly atMs: number;
    /** The name of a method of `simulator.faults`. */
    readonly fault: Name;
    /** The arguments of the method. @default none */
    readonly with?: Readonly<Parameters<SimulatorFaults[Name]>>;
  };
}[FaultName];

/** @throws LockConfigurationError that names the place in the list and the mistake */
export function checkPlan(plan: readonly PlannedFault[], faults: FaultArguments): void {
  if (!Array.isArray(plan)) throw new LockConfigurationError('plan: must be given a list of faults');
  plan.forEach((planned: PlannedFault, index) => {
    const where = `plan: fault ${index + 1} of ${plan.length}`;
    if (typeof planned !== 'object' || (planned as unknown) === null || !isMilliseconds(planned.atMs)) {
      throw new LockConfigurationError(
        `${where}: must be an object such as { atMs: 2_000, fault: 'killServer', with: [2] }, atMs in milliseconds from now`,
      );
    }
    if (planned.with !== undefined && !Array.isArray(planned.with)) {
      throw new LockConfigurationError(`${where}: with: must be a list, not ${describe(planned.with)}`);
    }
    try {
      faults.check(planned.fault, planned.with ?? []);
    } catch (error) {
      if (!(error instanceof LockConfigurationError)) throw error;
      throw new LockConfigurationError(`${where}: ${error.details}`, undefined, { cause: error });
    }
  });
}

export function makeHappen(faults: SimulatorFaults, { fault, with: given = [] }: PlannedFault): void {
  (faults[fault] as (...args: readonly unknown[]) => unknown).apply(faults, [...given]);
}
