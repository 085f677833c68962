import type { Socket } from 'node:net';

/** Servers answer it by default, and it touches no session. */
const QUESTION = 'srvr';
const NOT_SERVING = /not currently serving requests|^Mode: read-only\n/m;
/** The last but one line of a full answer; or that the administrator allows the question to nobody. */
const SERVING = /^Mode: .*\n|is not in the whitelist/m;
const MAX_ANSWER_CHARACTERS = 65_536;

/**
 * Asks a server, on a connection of its own, whether it serves clients at all: one without a quorum hangs up on a
 * handshake as one does that has taken the session up and then died. One that may not answer passes for serving; who hangs
 * up without a word is not heard of here.
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
