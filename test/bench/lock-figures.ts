import { CONTESTANTS, type ContestantName } from './contestants.js';
import type { StageName } from './lock-stages.js';
import type { Row } from './report.js';
import { median, medianRatio } from './statistics.js';

/** Round by round, what each contestant reached in each scenario of a stage. */
export class LockFigures {
  readonly #stage: StageName;
  readonly #values = new Map<string, number[]>();
  readonly #names = new Map<string, string[]>();

  constructor(stage: StageName) {
    this.#stage = stage;
  }

  /** How the scenario is called where those of all stages stand together. */
  title(scenario: string): string {
    return `lock-${this.#stage}-${scenario}`;
  }

  add(scenario: string, contestant: ContestantName, figures: Readonly<Record<string, number>>): void {
    this.#names.set(scenario, Object.keys(figures));
    for (const [figure, value] of Object.entries(figures)) {
      const key = keyOf(scenario, contestant, figure);
      const values = this.#values.get(key);
      if (values === undefined) this.#values.set(key, [value]);
      else values.push(value);
    }
  }

  has(scenario: string): boolean {
    return this.#names.has(scenario);
  }

  median(scenario: string, contestant: ContestantName, figure: string): number | undefined {
    const values = this.#values.get(keyOf(scenario, contestant, figure));
    return values === undefined ? undefined : median(values);
  }

  /** The median of what one reached divided by what the other reached in the same round; undefined when one was left out. */
  ratio(scenario: string, figure: string, one: ContestantName, other: ContestantName): number | undefined {
    const numerators = this.#values.get(keyOf(scenario, one, figure));
    const denominators = this.#values.get(keyOf(scenario, other, figure));
    return numerators === undefined || denominators === undefined ? undefined : medianRatio(numerators, denominators);
  }

  /** One for each contestant that took part; the ratios are of its first figure, and of the 99th percentile where there is one. */
  rows(scenario: string): Row[] {
    const figures = this.#names.get(scenario) ?? [];
    const [first = ''] = figures;
    const present = CONTESTANTS.filter((name) => this.median(scenario, name, first) !== undefined);
    return present.map((name) => {
      const row: Record<string, number | undefined> = {};
      for (const figure of figures) row[figure] = this.median(scenario, name, figure);
      if (name === 'recorded') row['ratio_to_ours'] = this.ratio(scenario, first, name, 'ours');
      row['ratio_to_floor'] = this.ratio(scenario, first, name, 'floor');
      row['p99_ratio_to_floor'] = this.ratio(scenario, 'acquire_p99_ms', name, 'floor');
      row['ratio_to_curator'] = this.ratio(scenario, first, name, 'curator');
      row['ratio_to_redlock'] = this.ratio(scenario, first, name, 'redlock');
      return { name, scenario: this.title(scenario), ...withoutGaps(row) };
    });
  }
}

function keyOf(scenario: string, contestant: ContestantName, figure: string): string {
  return `${scenario} ${contestant} ${figure}`;
}

function withoutGaps(row: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(row).filter((entry): entry is [string, number] => entry[1] !== undefined));
}
