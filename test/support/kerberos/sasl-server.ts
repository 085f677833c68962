import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ServerOptions } from '../zookeeper/options.js';
import type { Realm } from './realm.js';

export interface SaslOptions {
  readonly principal: string;
  readonly keytab: string;
  /** Whether nothing may be asked for before the authentication. @default true */
  readonly isRequired?: boolean;
}

/** What a ZooKeeper needs to take part in a realm; `restart` takes the same. */
export async function saslServer(
  realm: Realm,
  options: SaslOptions,
): Promise<Pick<ServerOptions, 'jvmFlags' | 'extraConfig'>> {
  const { principal, keytab, isRequired = true } = options;
  const path = join(dirname(realm.configPath), `${principal.replaceAll('/', '-')}.jaas`);
  await writeFile(
    path,
    'Server {\n  com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true useTicketCache=false\n' +
      `  keyTab="${keytab}" principal="${principal}@${realm.name}";\n};\n`,
  );
  return {
    extraConfig: { 'authProvider.1': 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider' },
    jvmFlags: [
      `-Djava.security.auth.login.config=${path}`,
      `-Djava.security.krb5.conf=${realm.configPath}`,
      ...(isRequired ? ['-Dzookeeper.enforce.auth.enabled=true', '-Dzookeeper.enforce.auth.schemes=sasl'] : []),
    ],
  };
}
