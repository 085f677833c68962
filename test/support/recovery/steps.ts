/** The steps of a transfer, from the moment in which its process enters. */
export const STEPS_OF_TRANSFER = [
  'enters',
  'noted',
  'wrote one',
  'wrote both',
  'releases',
  'has sent its release',
  'released',
] as const;

/** What a process says of itself, in this order. Where a step has begun it is said before what it does. */
export const STEPS = [
  ...(['asks', 'asked', 'recovers', 'repaired one', 'repaired'] as const),
  ...STEPS_OF_TRANSFER,
  ...(['loses', 'leaves'] as const),
] as const;

export type Step = (typeof STEPS)[number];

/** The step, and of which transfer. Who is told `leaves` ends in good order, and who is told nothing goes on until it is killed. */
export interface WhenToDie {
  readonly step: Step;
  readonly transfer: number;
}

export interface Entry {
  readonly step: Step;
  readonly facts: readonly string[];
}

export function lineOf({ step, facts }: Entry): string {
  return `${[step, ...facts].join('\t')}\n`;
}

/** @throws where a line is none of a diary: the process said why it ended */
export function readSteps(diary: string): Entry[] {
  return diary
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [word, ...facts] = line.split('\t');
      const step = STEPS.find((one) => one === word);
      if (step === undefined) throw new Error(`A process went wrong:\n${diary}`);
      return { step, facts };
    });
}
