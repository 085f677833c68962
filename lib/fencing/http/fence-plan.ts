import 'reflect-metadata';
import type { LockKeyTemplate } from '../../nest/locked/key-template.js';
import { NamedNotes } from '../../nest/metadata.js';

/** One `@RequireFence`. */
export interface FencePlan {
  /** `@RequireFence('/locks/:id') on OrdersController.pay` */
  readonly where: string;
  readonly template: LockKeyTemplate;
  readonly keys: ((params: Readonly<Record<string, string>>) => object) | undefined;
}

const PLAN = Symbol('@RequireFence');

/** Keeps the plan on the method itself, or on the class: a decorator that wraps a method carries its metadata over. */
export function setFencePlan(target: object, plan: FencePlan | 'none'): void {
  Reflect.defineMetadata(PLAN, plan, target);
}

const fencedMethods = new NamedNotes<FencePlan>();

/** Remembers the plan apart from the function as well: a decorator that puts another in its place may lose its metadata. */
export function rememberFencedMethod(prototype: object, method: string | symbol, plan: FencePlan): void {
  fencedMethods.set(prototype, method, plan);
}

/** The plan with which a method of this class, or of one that it extends, was decorated. */
export function rememberedPlanOf(prototype: object, method: string): FencePlan | undefined {
  return fencedMethods.nearest(prototype, method);
}

/** The plan that stands on a class or a method itself. */
export function ownFencePlanOf(target: object): FencePlan | 'none' | undefined {
  return Reflect.getMetadata(PLAN, target) as FencePlan | 'none' | undefined;
}

/** The plan that counts for a handler: its own, or else that of its class. */
export function fencePlanOf(handler: object, controller: object): FencePlan | 'none' | undefined {
  return ownFencePlanOf(handler) ?? ownFencePlanOf(controller);
}

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
