/** Something that is in one roster at most. */
export interface Member {
  /** Where the roster has it: the roster's own business. */
  rosterIndex: number;
}

/**
 * A set, in no order, of what comes and goes with every lock. A `Set` makes itself anew all the time under such use, and its
 * old tables keep alive what was in them until the next full garbage collection: nearly all that an acquire had made.
 */
export class Roster<T extends Member> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  has(member: T): boolean {
    return this.#members[member.rosterIndex] === member;
  }

  add(member: T): void {
    member.rosterIndex = this.#members.push(member) - 1;
  }

  /** @returns whether it was there */
  delete(member: T): boolean {
    if (!this.has(member)) return false;
    const last = this.#members.pop()!;
    if (last !== member) {
      this.#members[member.rosterIndex] = last;
      last.rosterIndex = member.rosterIndex;
    }
    return true;
  }

  /** All that are in it now. */
  all(): T[] {
    return [...this.#members];
  }
}
