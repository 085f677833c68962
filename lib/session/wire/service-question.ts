/** The four-letter word that servers answer by default. It touches no session. */
export const QUESTION = 'srvr';
const NOT_SERVING = /not currently serving requests|^Mode: read-only\n/m;
/** Matches the last line but one of a full answer, or the refusal where the administrator allows the word to nobody. */
const SERVING = /^Mode: .*\n|is not in the whitelist/m;
const MAX_ANSWER_CHARACTERS = 65_536;

/**
 * Reads what a server answers, on a connection of its own, when it is asked whether it serves clients at all. A hang-up
 * on a handshake does not tell: a server without a quorum does the same as one that took the session up and then died.
 * A server that may not answer passes for serving.
 */
export class ServiceAnswer {
  #text = '';

  /** @returns whether the server serves; undefined until it has said enough */
  read(bytes: Buffer): boolean | undefined {
    this.#text += bytes.toString('latin1');
    if (NOT_SERVING.test(this.#text)) return false;
    return SERVING.test(this.#text) || this.#text.length > MAX_ANSWER_CHARACTERS ? true : undefined;
  }
}
