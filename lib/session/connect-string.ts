import { isIPv6 } from 'node:net';
import { LockConfigurationError } from '../lock/errors.js';
import type { Server } from './core/link.js';
import { checkPath } from './paths.js';

/** What `connect` names: servers of an ensemble, or the ensemble in this process. */
export type ConnectTarget =
  | { readonly kind: 'ensemble'; readonly servers: readonly Server[]; readonly chroot: string }
  | { readonly kind: 'memory'; readonly name: string; readonly chroot: string };

const DEFAULT_PORT = 2181;
const EXAMPLE = "expected 'zk1:2181,zk2:2181,zk3:2181/chroot' or 'memory:'";

/** Reads `host[:port][,host[:port]...][/chroot]` and `memory:[name][/chroot]`. IPv6 addresses stand in brackets. */
export function parseConnectString(connect: string): ConnectTarget {
  // An environment file may leave a blank at the end, which would otherwise belong to the chroot.
  const text = connect.trim();
  if (/^[a-z][\w+.-]*:\/\//i.test(text)) throw refusal(connect, 'it is not a URL: leave the scheme out');
  const slash = text.indexOf('/');
  const authority = slash === -1 ? text : text.slice(0, slash);
  const chroot = readChroot(connect, slash === -1 ? '' : text.slice(slash));
  if (authority === 'memory') throw refusal(connect, "the ensemble in memory is written 'memory:', with a colon");
  if (authority.startsWith('memory:')) return { kind: 'memory', name: readName(connect, authority), chroot };
  const servers = authority.split(',').map((part) => readServer(connect, part.trim()));
  return { kind: 'ensemble', servers, chroot };
}

function readName(connect: string, authority: string): string {
  const name = authority.slice('memory:'.length);
  if (/[,\s]/.test(name)) throw refusal(connect, 'a name after memory: must not contain commas or spaces');
  return name;
}

function readChroot(connect: string, text: string): string {
  // ZooKeeper would take the comma, and with it the servers behind it, for a part of a node's name.
  if (text.includes(',')) throw refusal(connect, 'the chroot comes once, at the end, after all servers');
  const chroot = text === '/' ? '' : text;
  if (chroot !== '' && checkPath(chroot) !== undefined) {
    throw refusal(connect, `the chroot ${JSON.stringify(text)} is not a path ZooKeeper accepts`);
  }
  return chroot;
}

function readServer(connect: string, text: string): Server {
  const match = /^(?:\[([^\s\]]+)\]|([^\s:;[\]@]+))(?::(\d{1,5}))?$/.exec(text);
  const address = match?.[1];
  const host = address ?? match?.[2];
  if (host === undefined || (address !== undefined && !isIPv6(address)))
    throw refusal(connect, `${JSON.stringify(text)} is not host:port`);
  const port = match?.[3] === undefined ? DEFAULT_PORT : Number(match[3]);
  if (port < 1 || port > 65_535) throw refusal(connect, `port ${port} of ${host} is not between 1 and 65535`);
  return { host, port };
}

function refusal(connect: string, reason: string): LockConfigurationError {
  // The text in front of an @ may be a password, so neither it nor anything around it is shown.
  if (connect.includes('@')) {
    const advice = 'credentials do not belong here: give them as the option auth: { username, password }';
    return new LockConfigurationError(`connect: ${advice} (its value is not shown, because it has an @; ${EXAMPLE})`);
  }
  return new LockConfigurationError(`connect: ${reason} (in ${JSON.stringify(connect)}; ${EXAMPLE})`);
}
