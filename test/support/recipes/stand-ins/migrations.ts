import { entries, reach, writeDown } from './diary.js';

/** The steps that this version of the application knows. */
const STEPS = (process.env['RECIPE_STEPS'] ?? '').split(' ');

interface Migration {
  run(options: { token: bigint; signal: AbortSignal }): Promise<void>;
}

export class Migrations {
  async pending(): Promise<Migration[]> {
    const done = new Set(entries().map(({ what }) => what));
    return STEPS.filter((step) => !done.has(step)).map((step) => ({
      run: async ({ token }) => {
        await reach(step);
        writeDown(step, token);
      },
    }));
  }
}
