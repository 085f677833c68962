/** The command line is wrong. Its message is for the person who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
