/** Tokens 1 to `count` in an order that is the same in every run. */
export function shuffledTokens(count: number, seed = 1): bigint[] {
  const tokens = Array.from({ length: count }, (_, index) => BigInt(index + 1));
  let state = seed;
  for (let index = tokens.length - 1; index > 0; index -= 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const other = state % (index + 1);
    [tokens[index], tokens[other]] = [tokens[other]!, tokens[index]!];
  }
  return tokens;
}

/** `claim` of a store with 1 000 tokens in disorder; the tokens that were accepted, in the order of their answers. */
export async function acceptedInDisorder(
  count: number,
  claim: (token: bigint) => Promise<void>,
): Promise<{ accepted: bigint[]; refusals: Set<unknown> }> {
  const accepted: bigint[] = [];
  const refusals = new Set<unknown>();
  for (const token of shuffledTokens(count)) {
    try {
      await claim(token);
      accepted.push(token);
    } catch (error) {
      refusals.add((error as { code?: unknown }).code);
    }
  }
  return { accepted, refusals };
}

/** What must have been accepted of tokens that come in this order: those that are not below one before them. */
export function acceptable(tokens: readonly bigint[]): bigint[] {
  let highest = 0n;
  return tokens.filter((token) => {
    if (token < highest) return false;
    highest = token;
    return true;
  });
}

/** The code of the error that a promise rejects with; `accepted` where it does not. */
export function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'accepted',
    (error: unknown) => (error as { code?: unknown }).code ?? error,
  );
}
