/** What came over the connection is not what the protocol says: nothing behind it can be trusted. */
export class MalformedFrameError extends Error {
  override readonly name = 'MalformedFrameError';
}
