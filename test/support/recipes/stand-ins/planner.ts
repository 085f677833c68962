import { once } from 'node:events';

/** Tells the test of each of its terms. */
export class Planner {
  async lead(term: AbortSignal, token: bigint): Promise<void> {
    process.send?.({ type: 'leads', token });
    const failing = once(process, 'fail', { signal: term }).then(() => 'failed');
    const ended = await failing.catch(() => String((term.reason as { code?: string }).code));
    process.send?.({ type: 'led', token, ended });
    if (ended === 'failed') throw new Error('The planner has failed.');
  }
}
