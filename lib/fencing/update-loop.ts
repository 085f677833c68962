import { visible } from '../lock/visible.js';
import type { NewContent } from './checks.js';

/** What makes the new content from the one that was read; undefined: there is none. */
export type MakeContent = (current: Buffer | undefined) => NewContent | PromiseLike<NewContent>;

/** A resource as `update` of a store sees it. */
export interface Updatable<Seen, Written> {
  /** As errors call it. */
  readonly name: string;
  /** @returns the content, and what `write` compares to find out whether anybody has written since */
  read(): Promise<{ readonly content: Buffer | undefined; readonly seen: Seen }>;
  /** @returns undefined where somebody wrote after `seen`: then nothing was written */
  write(content: NewContent, seen: Seen): Promise<Written | undefined>;
}

/** If this many attempts in a row come too late, something writes each time that the new content is made. */
const MAX_ATTEMPTS = 1_000;

/** What errors call the content that `make` returned. */
export const MADE_CONTENT = 'what the function of update() returned';

/**
 * Reads, makes the new content, and writes it if nobody has written in between; otherwise all of it again. The token keeps
 * older holders out meanwhile, so only the same holder, from another place, can have written.
 * @param givenUp makes the error of the last attempt
 * @throws what `make` and the store throw
 */
export function readMakeWrite<Seen, Written>(
  resource: Updatable<Seen, Written>,
  make: MakeContent,
  givenUp: (text: string) => Error,
): Promise<Written> {
  return attempt(
    MAX_ATTEMPTS,
    async () => {
      const { content, seen } = await resource.read();
      return resource.write(await make(content), seen);
    },
    () =>
      givenUp(
        `${visible(resource.name)} was changed under the same token during each of ${MAX_ATTEMPTS} attempts to update it. ` +
          'This update wrote nothing. Does the function that makes the new content write to it as well?',
      ),
  );
}

/**
 * Tries until a try has a result.
 * @param once undefined: somebody else was in the way, and the next try may meet something else
 */
export async function attempt<T>(times: number, once: () => Promise<T | undefined>, givenUp: () => Error): Promise<T> {
  for (let made = 0; made < times; made += 1) {
    const result = await once();
    if (result !== undefined) return result;
  }
  throw givenUp();
}
