import { connect } from 'node:net';

/**
 * Opens a ZooKeeper session and closes it again: the one question every server answers when it is ready to serve, also
 * when its four-letter words are switched off. Resolves with the granted session timeout.
 */
export function handshake(host: string, port: number, timeoutMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const give = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(timeoutMs, () => give(new Error(`${host}:${port} did not answer within ${timeoutMs} ms`)));
    socket.on('error', give);
    socket.on('close', () => reject(new Error(`${host}:${port} closed the connection without an answer`)));
    socket.on('connect', () => socket.write(connectRequest()));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 12) return;
      const grantedMs = received.readInt32BE(8);
      socket.end(closeRequest());
      if (grantedMs > 0) resolve(grantedMs);
      else give(new Error(`${host}:${port} refused a session`));
    });
  });
}

/** Retries until the server serves; rejects with the last reason when the time is over. */
export async function waitUntilServing(host: string, port: number, withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  for (;;) {
    const reason = await handshake(host, port, 2_000).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (reason === undefined) return;
    if (performance.now() > until)
      throw new Error(`no ZooKeeper on ${host}:${port} in ${withinMs} ms`, { cause: reason });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function connectRequest(): Buffer {
  const frame = Buffer.alloc(4 + 4 + 8 + 4 + 8 + 4 + 16 + 1);
  frame.writeInt32BE(frame.length - 4, 0);
  frame.writeInt32BE(4_000, 16);
  frame.writeInt32BE(16, 28);
  return frame;
}

function closeRequest(): Buffer {
  const frame = Buffer.alloc(12);
  frame.writeInt32BE(8, 0);
  frame.writeInt32BE(1, 4);
  frame.writeInt32BE(-11, 8);
  return frame;
}
