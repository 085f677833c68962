import { SessionError } from './errors.js';

/**
 * The longest answer that is kept, enough for 70 000 contenders of one queue. All answers of a session come in one
 * stream, so parsing a longer one would delay the answers behind it, and the event loop. Its bytes are read past and
 * dropped.
 */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const BYTES_PER_MEGABYTE = 2 ** 20;

/** The answer to a read was too long to be kept. Nothing else suffers, and the connection goes on. */
export class TooLargeAnswerError extends SessionError {
  constructor(
    path: string,
    /** The number of children of a listed node; undefined where the node's data was read. */
    readonly children: number | undefined,
    readonly bytes: number,
  ) {
    const what = children === undefined ? 'data of' : `${children} children, whose names take`;
    const [has, most] = [bytes, MAX_ANSWER_BYTES].map((size) => `${(size / BYTES_PER_MEGABYTE).toFixed(1)} MB`);
    super('TOO_LARGE', `${path} has ${what} ${has}, and answers of more than ${most} are not accepted`, path);
  }
}
