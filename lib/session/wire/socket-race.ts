import type { Socket } from 'node:net';
import { type Clock, systemClock, type Timer } from '../../lock/clock.js';

/** How long an address that neither accepts nor refuses is waited for alone. */
const SPARE_AFTER_MS = 300;

export interface RaceListener {
  onConnected(socket: Socket, address: string): void;
  /** No address accepted: the first error. */
  onFailed(error: Error, address: string): void;
}

/**
 * Connects to the first address, and to the next one as soon as that fails, or is slow: a name with a dead IPv6 address
 * must not cost a whole attempt. The first connection wins, the others are destroyed.
 */
export class SocketRace {
  readonly #addresses: readonly string[];
  readonly #open: (address: string) => Socket;
  readonly #clock: Clock;
  #listener: RaceListener | undefined;
  readonly #sockets = new Set<Socket>();
  #started = 0;
  #slow: Timer | undefined;
  #firstFailure: { error: Error; address: string } | undefined;

  constructor(
    addresses: readonly string[],
    open: (address: string) => Socket,
    listener: RaceListener,
    clock: Clock = systemClock,
  ) {
    this.#addresses = addresses;
    this.#open = open;
    this.#listener = listener;
    this.#clock = clock;
    this.#startNext();
  }

  cancel(): void {
    this.#listener = undefined;
    this.#slow?.cancel();
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  #startNext(): void {
    this.#slow?.cancel();
    const address = this.#addresses[this.#started];
    if (address === undefined) return;
    const socket = this.#open(address);
    this.#started += 1;
    if (this.#started < this.#addresses.length) {
      this.#slow = this.#clock.setTimer(SPARE_AFTER_MS, () => this.#startNext());
    }
    this.#sockets.add(socket);
    socket.once('connect', () => this.#won(socket, address));
    // Stays for good: an error after the race is told by the winner's owner, and that of a loser by nobody.
    socket.on('error', (error) => this.#lost(socket, error, address));
  }

  #won(socket: Socket, address: string): void {
    if (!this.#sockets.delete(socket)) return;
    const listener = this.#listener;
    this.cancel();
    listener?.onConnected(socket, address);
  }

  #lost(socket: Socket, error: Error, address: string): void {
    if (!this.#sockets.delete(socket)) return;
    socket.destroy();
    this.#firstFailure ??= { error, address };
    if (this.#started < this.#addresses.length) return this.#startNext();
    if (this.#sockets.size > 0) return;
    const listener = this.#listener;
    this.cancel();
    listener?.onFailed(this.#firstFailure.error, this.#firstFailure.address);
  }
}
