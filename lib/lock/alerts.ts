interface OfAlert {
  readonly key: string;
  readonly label: string | undefined;
  readonly template: string | undefined;
}

/** Something that an operator should look at. `JSON.stringify` takes it as it is. */
export type LockAlert =
  /** A lock has been held for longer than the threshold, and still is. */
  | (OfAlert & { readonly alert: 'held'; readonly heldMs: number })
  /** More than the threshold are ahead of a call that waits. */
  | (OfAlert & { readonly alert: 'queue'; readonly ahead: number })
  /** So many calls for the key have failed, one after the other. */
  | (OfAlert & { readonly alert: 'failures'; readonly failures: number });
