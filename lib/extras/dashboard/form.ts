import type { IncomingMessage } from 'node:http';

/** No form of the dashboard is longer. */
const MAX_BYTES = 16_384;

/**
 * The fields of a form that was sent. The application's own parser may have made an object of it, or have left it as bytes or as text,
 * or there may be no parser at all.
 */
export async function formOf(request: { readonly body?: unknown; readonly raw?: unknown }): Promise<URLSearchParams> {
  const { body } = request;
  if (Buffer.isBuffer(body) || typeof body === 'string') return new URLSearchParams(String(body));
  // Some parsers make an empty object of what they do not read.
  if (typeof body === 'object' && body !== null && Object.keys(body).length > 0) {
    const fields = Object.entries(body).filter((one): one is [string, string] => typeof one[1] === 'string');
    return new URLSearchParams(fields);
  }
  // Fastify has Node's own request beside its own.
  return new URLSearchParams(await textOf((request.raw ?? request) as IncomingMessage));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
