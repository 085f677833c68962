import type { Promised } from '../judge.js';

/** A text of the product and what stands there instead. It must be there exactly once. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A deliberately wrong engine: each is a mistake that somebody has made in a lock, or could make in this one. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** What must be wrong around it for the mistake to matter; the engine as it is bears that. */
  readonly surroundings?: readonly Edit[];
  /** Any of these shows that the checkers have understood what is wrong. */
  readonly breaks: readonly Promised[];
  /** How many seeds it may survive, or variations of the directed scenario. */
  readonly withinSeeds: number;
  /** Where chance takes too long. */
  readonly directed?: string;
}
