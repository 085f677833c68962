import 'reflect-metadata';
import type { LockKeyTemplate } from '../../nest/locked/lock-key.js';
import { MethodNotes } from '../../nest/metadata.js';
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

const fencedMethods = new MethodNotes<FencePlan>();

/** Remembers it apart from the function: a decorator above that puts another in its place loses all that stood on it. */
export function rememberFencedMethod(prototype: object, method: string | symbol, plan: FencePlan): void {
  fencedMethods.set(prototype, method, plan);
}

/** The plan with which a method of this class, or of one that it extends, was decorated. */
export function rememberedPlanOf(prototype: object, method: string): FencePlan | undefined {
  return fencedMethods.nearest(prototype, method);
}

/** What a class or a method says of itself. */
export function ownFencePlanOf(target: object): FencePlan | 'none' | undefined {
  return Reflect.getMetadata(PLAN, target) as FencePlan | 'none' | undefined;
}

/** What counts for a handler: its own decorator, or else that of its class. */
export function fencePlanOf(handler: object, controller: object): FencePlan | 'none' | undefined {
  return ownFencePlanOf(handler) ?? ownFencePlanOf(controller);
}
