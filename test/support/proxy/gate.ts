/** Holds a unit, and with it all that comes behind it in its direction, until opened. */
export class Gate {
  private readonly listeners = new Set<() => void>();
  private opened = false;

  get isOpen(): boolean {
    return this.opened;
  }

  open(): void {
    this.opened = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }

  whenOpened(listener: () => void): void {
    if (this.opened) listener();
    else this.listeners.add(listener);
  }
}
