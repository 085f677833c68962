import { createHash } from 'node:crypto';
import { DEFAULT_INIT_LIMIT, DEFAULT_SYNC_LIMIT, DEFAULT_TICK_TIME_MS, type ServerOptions } from './options.js';

export interface ServerPorts {
  client: number;
  /** Only with TLS. */
  secure: number | undefined;
}

/** A line `server.<id>=127.0.0.1:<quorum>:<election>` of an ensemble's zoo.cfg. */
export interface Peer {
  serverId: number;
  quorumPort: number;
  electionPort: number;
}

type Setting = readonly [string, string | number | boolean | undefined];

/** The text of zoo.cfg. `peers` is empty for a single server. */
export function configText(
  dataDir: string,
  ports: ServerPorts,
  peers: readonly Peer[],
  options: ServerOptions,
): string {
  const tickTimeMs = options.tickTimeMs ?? DEFAULT_TICK_TIME_MS;
  const settings: Setting[] = [
    ['dataDir', dataDir],
    ['tickTime', tickTimeMs],
    ['clientPort', ports.client],
    ['clientPortAddress', '127.0.0.1'],
    ['maxClientCnxns', 0],
    ['minSessionTimeout', options.minSessionTimeoutMs],
    ['maxSessionTimeout', options.maxSessionTimeoutMs],
    ['admin.enableServer', false],
    ['4lw.commands.whitelist', '*'],
    ['extendedTypesEnabled', options.extendedTypes ?? true],
    ...ensembleSettings(peers, options),
    ...tlsSettings(ports, options),
    ...Object.entries(options.extraConfig ?? {}),
  ];
  const lines = settings.filter(([, value]) => value !== undefined).map(([name, value]) => `${name}=${String(value)}`);
  return `${lines.join('\n')}\n`;
}

function ensembleSettings(peers: readonly Peer[], options: ServerOptions): Setting[] {
  if (peers.length === 0) return [];
  return [
    ['initLimit', options.initLimit ?? DEFAULT_INIT_LIMIT],
    ['syncLimit', options.syncLimit ?? DEFAULT_SYNC_LIMIT],
    ...peers.map((peer): Setting => {
      return [`server.${peer.serverId}`, `127.0.0.1:${peer.quorumPort}:${peer.electionPort}`];
    }),
  ];
}

function tlsSettings(ports: ServerPorts, { tls }: ServerOptions): Setting[] {
  if (tls === undefined) return [];
  return [
    ['secureClientPort', ports.secure],
    ['secureClientPortAddress', '127.0.0.1'],
    // The default connection factory does not speak TLS.
    ['serverCnxnFactory', 'org.apache.zookeeper.server.NettyServerCnxnFactory'],
    ['ssl.keyStore.location', tls.certificates.serverKeyStorePath],
    ['ssl.trustStore.location', tls.certificates.caPath],
    ['ssl.clientAuth', tls.clientAuth ?? 'need'],
  ];
}

/** Small and quick to start: on two cores a server serves in about a second. */
export function jvmFlags(options: ServerOptions): string[] {
  const properties: Setting[] = [
    ['zookeeper.forceSync', options.fsync === true ? 'yes' : 'no'],
    ['znode.container.checkIntervalMs', options.containerCheckIntervalMs],
    ['jute.maxbuffer', options.maxBufferBytes],
    ['zookeeper.DigestAuthenticationProvider.superDigest', superDigest(options.superPassword)],
    ['org.slf4j.simpleLogger.showDateTime', true],
    ['org.slf4j.simpleLogger.dateTimeFormat', 'HH:mm:ss.SSS'],
  ];
  const defined = properties.filter(([, value]) => value !== undefined);
  return [
    '-Xmx256m',
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    ...defined.map(([name, value]) => `-D${name}=${String(value)}`),
    ...(options.jvmFlags ?? []),
  ];
}

function superDigest(password: string | undefined): string | undefined {
  if (password === undefined) return undefined;
  return `super:${createHash('sha1').update(`super:${password}`).digest('base64')}`;
}
