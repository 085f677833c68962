import { connect } from 'node:net';

const ANSWER_WITHIN_MS = 3_000;

/** Asks a server one four-letter word and returns its answer; rejects when there is none in time. */
export function fourLetterWord(port: number, word: string, withinMs = ANSWER_WITHIN_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(word));
    const answer = (): string => Buffer.concat(chunks).toString('utf8');
    const fail = (reason: string, cause?: Error): void => {
      socket.destroy();
      reject(new Error(`'${word}' to 127.0.0.1:${port}: ${reason}.`, { cause }));
    };
    socket.setTimeout(withinMs, () => fail(`no answer within ${withinMs} ms`));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => resolve(answer()));
    // The server sometimes closes with a reset behind a complete answer.
    socket.on('error', (error) => (chunks.length > 0 ? resolve(answer()) : fail(error.message, error)));
    socket.on('close', () => resolve(answer()));
  });
}
