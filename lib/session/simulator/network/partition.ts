/** Which endpoints can reach each other. All are in one group until a fault separates them. */
export class Partition {
  readonly #groupByEndpoint = new Map<string, number>();
  readonly #onChange: () => void;
  #groups = 0;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  canTalk(one: string, other: string): boolean {
    return this.#groupOf(one) === this.#groupOf(other);
  }

  /** Puts these endpoints into a group of their own. */
  separate(endpoints: Iterable<string>): void {
    this.#groups += 1;
    for (const endpoint of endpoints) this.#groupByEndpoint.set(endpoint, this.#groups);
    this.#onChange();
  }

  heal(): void {
    this.#groupByEndpoint.clear();
    this.#onChange();
  }

  #groupOf(endpoint: string): number {
    return this.#groupByEndpoint.get(endpoint) ?? 0;
  }
}

export function serverEndpoint(serverId: number): string {
  return `server ${serverId}`;
}

export function clientEndpoint(name: string): string {
  return `client ${name}`;
}
