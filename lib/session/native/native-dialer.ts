import type { Dialer, DialOptions, Link, LinkListener, Server } from '../core/link.js';
import { NativeLink } from './native-link.js';
import { findPackage } from './package.js';

/** Makes links over clients of the npm package `zookeeper`. Each of them is given one server, by its IP address. */
export class NativeDialer implements Dialer {
  readonly #reach: Dialer;
  /** Where the npm package is. */
  readonly packagePath: string = findPackage();
  /** The session whose first create has proven how parents tell zxids. */
  provenSession: bigint | undefined;

  /**
   * @param reach dials the server to find the address at which it accepts connections: the package would look names up
   * on each answer, and block its thread meanwhile
   * @throws LockConfigurationError
   */
  constructor(reach: Dialer) {
    this.#reach = reach;
  }

  dial(server: Server, listener: LinkListener, options?: DialOptions): Link {
    return new NativeLink(this, server, listener, (found) => this.#reach.dial(server, found, options));
  }
}
