import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure, type ConnectionOptions, TLSSocket } from 'node:tls';
import type { TlsSettings, TlsSource } from '../../session/tls-settings.js';

/** The four-letter word that servers answer by default. */
const QUESTION = 'srvr';
const MAX_ANSWER_CHARACTERS = 65_536;

/** One server's account of itself, or the reason why it gave none. */
export interface ServerReport {
  /** As `connect` has it: `zk1:2181`. */
  readonly server: string;
  /** `3.8.0`; undefined where the server did not say. */
  readonly version: string | undefined;
  /** `leader`, `follower`, `standalone`, `observer`; undefined where the server did not say. */
  readonly role: string | undefined;
  /** `TLSv1.3`; undefined over a plain connection. */
  readonly tlsProtocol: string | undefined;
  /** When the server's certificate ends; undefined over a plain connection. */
  readonly certificateUntil: Date | undefined;
  /** Why nothing was heard of it; undefined where it answered. */
  readonly failure: string | undefined;
}

/** Asks one server what it is, on a connection of its own. */
export async function askServer(
  { host, port }: { readonly host: string; readonly port: number },
  tls: TlsSettings | TlsSource | undefined,
  withinMs: number,
): Promise<ServerReport> {
  const server = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const nothing = { version: undefined, role: undefined, tlsProtocol: undefined, certificateUntil: undefined };
  try {
    const settings = typeof tls === 'function' ? await tls() : tls;
    const socket =
      settings === undefined ? connectPlain({ host, port }) : connectSecure(secureOptions(host, port, settings));
    const { answer, ...encryption } = await answerOf(socket, withinMs);
    const version = /^Zookeeper version: ([\w.]+)/m.exec(answer)?.[1];
    const role = /^Mode: (\S+)/m.exec(answer)?.[1];
    // An administrator may allow the word to nobody; the server is there all the same.
    const refused = /is not in the whitelist/.test(answer);
    const failure =
      role !== undefined || refused ? undefined : (firstLine(answer) ?? 'it closed the connection without a word');
    return { server, ...encryption, version, role, failure };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return {
      server,
      ...nothing,
      failure: code === undefined || message.includes(code) ? message : `${message} (${code})`,
    };
  }
}

function secureOptions(host: string, port: number, settings: TlsSettings): ConnectionOptions {
  // An address must not be sent as a server name.
  const servername = settings.servername ?? (isIP(host) === 0 ? host.replace(/\.$/, '') : undefined);
  return { ...settings, ...(servername === undefined ? {} : { servername }), host, port };
}

interface Answer {
  readonly answer: string;
  readonly tlsProtocol: string | undefined;
  readonly certificateUntil: Date | undefined;
}

function answerOf(socket: Socket, withinMs: number): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${withinMs} ms`)), withinMs);
    let answer = '';
    let encryption: Omit<Answer, 'answer'> = { tlsProtocol: undefined, certificateUntil: undefined };
    const settle = (): void => {
      clearTimeout(timer);
      resolve({ answer, ...encryption });
    };
    socket.setEncoding('utf8');
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      if (socket instanceof TLSSocket) encryption = encryptionOf(socket);
      socket.write(QUESTION);
    });
    socket.on('data', (text: string) => {
      answer += text;
      if (answer.length > MAX_ANSWER_CHARACTERS) settle();
    });
    // A server hangs up behind its answer, and maybe without the end of TLS that belongs to it: what was heard counts.
    socket.once('close', settle);
  }).finally(() => socket.destroy());
}

function encryptionOf(socket: TLSSocket): Omit<Answer, 'answer'> {
  const until = new Date(socket.getPeerCertificate().valid_to);
  return {
    tlsProtocol: socket.getProtocol() ?? undefined,
    certificateUntil: Number.isNaN(until.getTime()) ? undefined : until,
  };
}

function firstLine(answer: string): string | undefined {
  return answer.split('\n', 1)[0]?.trim() || undefined;
}
