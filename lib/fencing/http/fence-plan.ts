import 'reflect-metadata';
import type { LockKeyTemplate } from '../../nest/locked/lock-key.js';
import type { SignedTokenRules } from './fencing-options.js';

/** One `@RequireFence`. */
export interface FencePlan {
  /** `@RequireFence('/locks/:id') on OrdersController.pay` */
  readonly where: string;
  readonly template: LockKeyTemplate;
  readonly keys: ((params: Readonly<Record<string, string>>) => object) | undefined;
  readonly rules: SignedTokenRules;
}

const PLAN = Symbol('@RequireFence');

/** On the method itself, or the class: other decorators that wrap methods carry metadata over. */
export function setFencePlan(target: object, plan: FencePlan | 'none'): void {
  Reflect.defineMetadata(PLAN, plan, target);
}

const fencedMethods = new WeakMap<object, Map<string, FencePlan>>();

/** Remembers it apart from the function: a decorator above that puts another in its place loses all that stood on it. */
export function rememberFencedMethod(prototype: object, method: string | symbol, plan: FencePlan): void {
  const methods = fencedMethods.get(prototype) ?? new Map<string, FencePlan>();
  fencedMethods.set(prototype, methods.set(String(method), plan));
}

/** The plan with which a method of this class, or of one that it extends, was decorated. */
export function rememberedPlanOf(prototype: object, method: string): FencePlan | undefined {
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const plan = fencedMethods.get(at)?.get(method);
    if (plan !== undefined) return plan;
  }
  return undefined;
}

/** What a class or a method says of itself. */
export function ownFencePlanOf(target: object): FencePlan | 'none' | undefined {
  return Reflect.getMetadata(PLAN, target) as FencePlan | 'none' | undefined;
}

/** What counts for a handler: its own decorator, or else that of its class. */
export function fencePlanOf(handler: object, controller: object): FencePlan | 'none' | undefined {
  return ownFencePlanOf(handler) ?? ownFencePlanOf(controller);
}
