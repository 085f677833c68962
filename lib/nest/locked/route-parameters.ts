import 'reflect-metadata';
import { Body, Param, Query } from '@nestjs/common';

/** A parameter that Nest fills from the outside, as Nest's own decorators described it. */
export interface RouteParameter {
  readonly index: number;
  /** The part that Nest takes: `id` for `@Param('id')`; undefined for the whole, as in `@Body()`. */
  readonly property: string | undefined;
  /** The names of the whole in a dotted placeholder: `:body.order.id`. */
  readonly roots: readonly string[];
}

interface Learned {
  readonly metadataKey: unknown;
  readonly rootsByType: ReadonlyMap<string, readonly string[]>;
}

/**
 * Where Nest keeps such parameters, and what it calls their kinds, learned from what it does to a class of ours: no
 * import of its internals. All transports share the one key, and `@Body`, `@Payload`, `@MessageBody` and `@Args` the kind.
 */
const learned = learn();

export function routeParametersOf(constructor: object, method: string | symbol): RouteParameter[] {
  const { metadataKey, rootsByType } = learned;
  const entries: unknown = Reflect.getMetadata(metadataKey, constructor, method);
  const parameters = Object.entries(entries ?? {}).flatMap(([typeAndIndex, { index, data }]: [string, RouteEntry]) => {
    const roots = rootsByType.get(typeAndIndex.slice(0, typeAndIndex.lastIndexOf(':')));
    return roots === undefined ? [] : [{ index, roots, property: typeof data === 'string' ? data : undefined }];
  });
  return parameters.sort((left, right) => left.index - right.index);
}

interface RouteEntry {
  readonly index: number;
  readonly data?: unknown;
}

function learn(): Learned {
  class Probe {
    method(): void {
      return undefined;
    }
  }
  const kinds = [
    { decorator: Param('probe'), roots: ['params', 'param'] },
    { decorator: Query('probe'), roots: ['query'] },
    { decorator: Body('probe'), roots: ['body', 'payload', 'args'] },
  ];
  kinds.forEach(({ decorator }, index) => decorator(Probe.prototype, 'method', index));
  const [metadataKey] = Reflect.getMetadataKeys(Probe, 'method') as unknown[];
  const entries = (Reflect.getMetadata(metadataKey, Probe, 'method') ?? {}) as Record<string, RouteEntry>;
  const rootsByType = Object.entries(entries).map(([typeAndIndex, { index }]): [string, readonly string[]] => [
    typeAndIndex.slice(0, typeAndIndex.lastIndexOf(':')),
    kinds[index]?.roots ?? [],
  ]);
  return { metadataKey, rootsByType: new Map(rootsByType) };
}
