import 'reflect-metadata';

/** As a compiler that emits no decorator metadata leaves it. */
export function withoutTypes(prototype: object, method: string | symbol): void {
  Reflect.deleteMetadata('design:returntype', prototype, method);
}
