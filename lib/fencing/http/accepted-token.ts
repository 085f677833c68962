import type { FencePlan } from './fence-plan.js';

/** What the guard let in. It is kept beside the request, where nothing can be that the caller sends. */
interface Accepted {
  readonly plan: FencePlan;
  readonly token: bigint;
}

const accepted = new WeakMap<object, Accepted>();

export function acceptToken(request: object, plan: FencePlan, token: bigint): void {
  accepted.set(request, { plan, token });
}

export function acceptedToken(request: object): Accepted | undefined {
  return accepted.get(request);
}
