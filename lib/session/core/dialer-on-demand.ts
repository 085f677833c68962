import type { Dialer, DialOptions, Handshake, Link, LinkListener, LinkRequest, Server } from './link.js';

/** A dialer whose code is still being loaded. Links that are asked for meanwhile are dialled when it has arrived. */
export class DialerOnDemand implements Dialer {
  readonly #loading: Promise<Dialer>;
  #loaded: Dialer | undefined;

  constructor(loading: Promise<Dialer>) {
    this.#loading = loading;
    // Each waiting link tells its own listener of a failed load, so this promise must not raise an unhandled rejection.
    loading.then(
      (dialer) => (this.#loaded = dialer),
      () => undefined,
    );
  }

  dial(server: Server, listener: LinkListener, options?: DialOptions): Link {
    return this.#loaded?.dial(server, listener, options) ?? new PendingLink(this.#loading, server, listener, options);
  }
}

/** A link that is dialled once the dialer is there. */
class PendingLink implements Link {
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

  // The session sends nothing over a link before it has opened, so there is nothing to keep here.
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
