/** The only version that there is, with the ids of a trace and a span, of which none is all zeros, and flags. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** Whether this is a `traceparent` as W3C's Trace Context has it: 55 characters that name a span. */
export function isTraceparent(value: unknown): value is string {
  return typeof value === 'string' && TRACEPARENT.test(value);
}
