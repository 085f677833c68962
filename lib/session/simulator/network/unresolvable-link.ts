import type { Timer } from '../../../lock/clock.js';
import type { Link, LinkListener } from '../../core/link.js';
import type { Host } from '../time/host.js';

/** The link that results from dialling a name that no server has. */
export class UnresolvableLink implements Link {
  readonly lastZxid = 0n;
  readonly #failure: Timer;

  constructor(host: Host, name: string, listener: LinkListener) {
    this.#failure = host.setTimer(0, () => listener.onClosed(new Error(`No simulated server has the name ${name}`)));
  }

  handshake(): void {
    // There is no server to talk to; the listener is told by the timer.
  }

  send(): boolean {
    return true;
  }

  flush(): undefined {
    // No frame was queued that could leave.
    return undefined;
  }

  destroy(): void {
    this.#failure.cancel();
  }
}
