import type { Dialer, DialOptions, Handshake, Link, LinkListener, LinkRequest, Server } from './link.js';

/** Dials by a dialer whose code is still being loaded: its first links begin when that is there. */
export class DialerOnDemand implements Dialer {
  readonly #loading: Promise<Dialer>;
  #loaded: Dialer | undefined;

  constructor(loading: Promise<Dialer>) {
    this.#loading = loading;
    // Each link tells its own listener of a failure.
    loading.then(
      (dialer) => (this.#loaded = dialer),
      () => undefined,
    );
  }

  dial(server: Server, listener: LinkListener, options?: DialOptions): Link {
    return this.#loaded?.dial(server, listener, options) ?? new LinkToCome(this.#loading, server, listener, options);
  }
}

/** A link that is dialled once the dialer is there. A session says nothing over a link that has not opened. */
class LinkToCome implements Link {
  #link: Link | undefined;
  #isDestroyed = false;

  constructor(loading: Promise<Dialer>, server: Server, listener: LinkListener, options?: DialOptions) {
    loading.then(
      (dialer) => {
        if (!this.#isDestroyed) this.#link = dialer.dial(server, listener, options);
      },
      (cause: unknown) => {
        if (!this.#isDestroyed) listener.onClosed(cause instanceof Error ? cause : new Error(String(cause)));
      },
    );
  }

  get lastZxid(): bigint {
    return this.#link?.lastZxid ?? 0n;
  }

  handshake(handshake: Handshake): void {
    this.#link?.handshake(handshake);
  }

  send(xid: number, request: LinkRequest, chroot: string): boolean {
    return this.#link?.send(xid, request, chroot) ?? true;
  }

  flush(): Promise<void> | undefined {
    return this.#link?.flush();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#link?.destroy();
  }
}
