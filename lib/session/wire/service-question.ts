import type { Socket } from 'node:net';

/** The four-letter word that servers answer by default. It touches no session. */
const QUESTION = 'srvr';
const NOT_SERVING = /not currently serving requests|^Mode: read-only\n/m;
/** Matches the last line but one of a full answer, or the refusal where the administrator allows the word to nobody. */
const SERVING = /^Mode: .*\n|is not in the whitelist/m;
const MAX_ANSWER_CHARACTERS = 65_536;

/**
 * Asks a server, on a connection of its own, whether it serves clients at all. A hang-up on a handshake does not tell:
 * a server without a quorum does the same as one that took the session up and then died. A server that may not answer
 * passes for serving. A hang-up without a word is seen by the owner of the socket.
 */
export class ServiceQuestion {
  readonly #onAnswer: (serves: boolean) => void;
  #text = '';

  constructor(socket: Socket, onAnswer: (serves: boolean) => void) {
    this.#onAnswer = onAnswer;
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.write(QUESTION);
  }

  #onData(chunk: Buffer): void {
    this.#text += chunk.toString('latin1');
    if (NOT_SERVING.test(this.#text)) this.#onAnswer(false);
    else if (SERVING.test(this.#text) || this.#text.length > MAX_ANSWER_CHARACTERS) this.#onAnswer(true);
  }
}
