import { SessionError } from './errors.js';

/**
 * The longest answer that is taken: 70 000 contenders of one queue. All answers of a session come in one stream, so a longer
 * one would keep those behind it waiting, and the event loop as well. What comes is read past, and not kept.
 */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const BYTES_PER_MEGABYTE = 2 ** 20;

/** The answer to a read was longer than is taken. Nothing else suffers: the connection goes on. */
export class TooLargeAnswerError extends SessionError {
  constructor(
    path: string,
    /** Of a list; undefined for the data of a node. */
    readonly children: number | undefined,
    readonly bytes: number,
  ) {
    const what = children === undefined ? 'data of' : `${children} children, whose names take`;
    const [has, most] = [bytes, MAX_ANSWER_BYTES].map((size) => `${(size / BYTES_PER_MEGABYTE).toFixed(1)} MB`);
    super('TOO_LARGE', `${path} has ${what} ${has}, and answers of more than ${most} are not accepted`, path);
  }
}
