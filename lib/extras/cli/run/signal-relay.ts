import type { ChildCommand } from './child-command.js';

const RELAYED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
/** A terminal's keys send these to all processes in front of it. */
const BY_KEY: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];

/** Hands the signals that this process gets to the command; before there is one, they end the wait for the lock. */
export class SignalRelay {
  /** The first signal that came before there was a command. */
  received: NodeJS.Signals | undefined;
  /** True once the command was sent a signal, or has got it from the terminal. */
  isRelayed = false;
  readonly #interrupted = new AbortController();
  #child: ChildCommand | undefined;

  constructor() {
    for (const name of RELAYED) process.on(name, this.#relay);
  }

  /** Aborts when a signal comes before there is a command. */
  get interrupted(): AbortSignal {
    return this.#interrupted.signal;
  }

  handTo(child: ChildCommand): void {
    this.#child = child;
  }

  stop(): void {
    for (const name of RELAYED) process.off(name, this.#relay);
  }

  readonly #relay = (name: NodeJS.Signals): void => {
    if (this.#child === undefined) {
      this.received ??= name;
      this.#interrupted.abort();
      return;
    }
    this.isRelayed = true;
    // In front of a terminal the command has got it from the key. Twice would be "at once" to many programs.
    if (this.#child.hasOwnGroup || !BY_KEY.includes(name)) this.#child.signal(name);
  };
}
