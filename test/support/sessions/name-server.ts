import { type BindOptions, createSocket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const RESPONSE = 0x80;
const NO_SUCH_NAME = 3;

/** An address; or the name does not exist; or nothing is said at all. */
export type NameServerAnswer = '127.0.0.1' | 'absent' | 'silent';

export interface NameServer extends AsyncDisposable {
  /** As `Resolver.setServers` takes it. */
  readonly address: string;
  /** The names that it was asked for. */
  readonly asked: readonly string[];
}

/**
 * A name server on the loopback interface that answers questions for IPv4 addresses as it is told.
 *
 * @param at where it listens; any free port where none is given
 */
export async function startNameServer(
  answerTo: (name: string) => NameServerAnswer,
  at: BindOptions = { address: '127.0.0.1' },
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, client) => {
    const { name, end } = questionIn(query);
    asked.push(name);
    const answer = answerTo(name);
    if (answer !== 'silent') socket.send(reply(query.subarray(0, end), answer), client.port, client.address);
  });
  socket.bind(at);
  await once(socket, 'listening');
  socket.unref();
  return {
    address: `${socket.address().address}:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function questionIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  // Behind the root's empty label come type and class, two bytes each.
  return { name: labels.join('.'), end: at + 5 };
}

function reply(question: Buffer, answer: string): Buffer {
  const head = Buffer.from(question);
  head[2] = (head[2] ?? 0) | RESPONSE;
  head[3] = answer === 'absent' ? NO_SUCH_NAME : 0;
  head.writeUInt16BE(answer === 'absent' ? 0 : 1, 6);
  // The client's own additional record is not sent back.
  head.writeUInt16BE(0, 10);
  if (answer === 'absent') return head;
  const pointerToName = [0xc0, HEADER_BYTES];
  const typeAndClass = [0, 1, 0, 1];
  const secondsToLive = [0, 0, 0, 0];
  const address = answer.split('.').map(Number);
  return Buffer.concat([head, Buffer.from([...pointerToName, ...typeAndClass, ...secondsToLive, 0, 4, ...address])]);
}
