import 'reflect-metadata';
import { UseGuards } from '@nestjs/common';
import { FenceGuard } from './fence.guard.js';

/** Where Nest keeps the guards of a class or a method, learned from what it does to a class of ours. */
const GUARDS_KEY = learnGuardsKey();

/** Whether Nest asks the guard of `@RequireFence` before this handler. */
export function isGuarded(handler: object, controller: object): boolean {
  return [handler, controller].some((target) => isAsked(Reflect.getMetadata(GUARDS_KEY, target)));
}

function isAsked(guards: unknown): boolean {
  return Array.isArray(guards) && guards.includes(FenceGuard);
}

function learnGuardsKey(): unknown {
  @UseGuards(FenceGuard)
  class Probe {}
  return (Reflect.getMetadataKeys(Probe) as unknown[]).find((key) => isAsked(Reflect.getMetadata(key, Probe)));
}
