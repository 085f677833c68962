/** One security context of the npm package `kerberos`. Its tokens are in base64. */
export interface KerberosClient {
  readonly contextComplete: boolean;
  step(challenge: string): Promise<string | null>;
  unwrap(challenge: string): Promise<string>;
  wrap(challenge: string, options: { readonly user: string }): Promise<string>;
}

/** The part of the package that is used here. Its calls run in the thread pool. */
export interface KerberosPackage {
  /** @param service as `service@host` */
  initializeClient(
    service: string,
    options: { readonly mechOID: number; readonly principal?: string },
  ): Promise<KerberosClient>;
  readonly GSS_MECH_OID_KRB5: number;
}

export async function loadKerberos(): Promise<KerberosPackage> {
  // It is a CommonJS module, so what it exports is the default.
  const { default: loaded } = (await import('kerberos')) as { readonly default: KerberosPackage };
  return loaded;
}
