/** Functions and methods have a prototype that can be replaced, or none. */
export function isClass(value: unknown): value is { readonly name: string } {
  return typeof value === 'function' && Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
}
