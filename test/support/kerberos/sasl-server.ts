import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { blocks, settings } from '../production-page.js';
import type { ServerOptions } from '../zookeeper/options.js';
import type { Realm } from './realm.js';

const HEADING = 'Kerberos, step by step';

export interface SaslOptions {
  readonly principal: string;
  readonly keytab: string;
}

/** What a ZooKeeper needs to take part in a realm, as the page about production says it. It lets in nobody else. */
export async function saslServer(
  realm: Realm,
  { principal, keytab }: SaslOptions,
): Promise<Pick<ServerOptions, 'jvmFlags' | 'extraConfig'>> {
  const [jaas = '', flags = ''] = blocks('text', HEADING);
  const [zooCfg = ''] = blocks('properties', HEADING);
  const path = join(dirname(realm.configPath), `${principal.replaceAll('/', '-')}.jaas`);
  const own = jaas
    .replace('/etc/zookeeper/zk1.keytab', keytab)
    .replace('zookeeper/zk1.example.com@EXAMPLE.COM', `${principal}@${realm.name}`);
  await writeFile(path, own);
  return {
    extraConfig: settings(zooCfg),
    jvmFlags: [
      `-Djava.security.krb5.conf=${realm.configPath}`,
      ...flags.trim().replace('/etc/zookeeper/jaas.conf', path).split(/\s+/),
    ],
  };
}
