/** The bytes of a connection break the protocol, so nothing behind them can be trusted. */
export class MalformedFrameError extends Error {
  override readonly name = 'MalformedFrameError';
}
