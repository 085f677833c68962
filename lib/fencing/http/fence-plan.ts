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

/**
 * The plans of methods, kept apart from the functions as well: a decorator that puts another function in the place of one may
 * lose its metadata.
 */
export const fencedMethods = new NamedNotes<FencePlan>();

/** The plan that stands on a class or a method itself. */
export function ownFencePlanOf(target: object): FencePlan | 'none' | undefined {
  return Reflect.getMetadata(PLAN, target) as FencePlan | 'none' | undefined;
}

/** The plan that counts for a handler: its own, or else that of its class. */
export function fencePlanOf(handler: object, controller: object): FencePlan | 'none' | undefined {
  return ownFencePlanOf(handler) ?? ownFencePlanOf(controller);
}

/** What the guard let in, by its request. It is kept beside the request, where nothing can be that the caller sends. */
export const acceptedTokens = new WeakMap<object, { readonly plan: FencePlan; readonly token: bigint }>();
