import { describe, expect, it } from '@jest/globals';
import { checkKey } from '../../../../lib/engine/key.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { lockKey } from '../../../../lib/nest/locked/key-template.js';
import { Locked } from '../../../../lib/nest/locked/locked.decorator.js';

const defineWith = (path: string) => (): unknown => {
  class Orders {
    @Locked(path)
    async pay(id: string): Promise<string> {
      return id;
    }
  }
  return Orders;
};

/** What was written, what the text finds in it, and the placeholder that it proposes. */
const FOREIGN: readonly (readonly [path: string, found: string, cure: string])[] = [
  ['/locks/{id}', '{id}', ':id'],
  ['/locks/${id}', '${id}', ':id'],
  ['/locks/#{id}', '#{id}', ':id'],
  ['/locks/{{ id }}/x', '{{ id }}', ':id'],
  ['/locks/:{id}', ':{id}', ':id'],
  ['/locks/${order.id}', '${order.id}', ':order.id'],
  ['/locks/{orderId:int}', '{orderId:int}', ':orderId'],
  ['/locks/{id:[0-9]+}', '{id:[0-9]+}', ':id'],
  ['/locks/{order-id}', '{order-id}', ':id'],
  ['/locks/{}', '{}', ':id'],
  ['/locks/{0}', '{0}', ':id'],
  ['/locks/{id', '{id', ':id'],
  ['/locks/id}', '}', ':id'],
  ['/locks{/:id}', '{/:id}', ':id'],
  ['/locks/<id>', '<id>', ':id'],
  ['/locks/<int:orderId>', '<int:orderId>', ':orderId'],
  ['/locks/[id]', '[id]', ':id'],
  ['/locks/[...id]', '[...id]', ':id'],
  ['/locks/(id)', '(id)', ':id'],
  ['/locks/(order.id)/x', '(order.id)', ':order.id'],
  ['/locks/%s', '%s', ':id'],
  ['/locks/%d/x', '%d', ':id'],
  ['/locks/%1$s', '%1$s', ':id'],
  ['/locks/%(orderId)s', '%(orderId)s', ':orderId'],
  ['/locks/%ORDER_ID%', '%ORDER_ID%', ':ORDER_ID'],
  ['/locks/$id', '$id', ':id'],
  ['/locks/:tenant/{id}', '{id}', ':id'],
  ['/locks/:tenant,$id', '$id', ':id'],
  ['/locks/12:30.$id', '$id', ':id'],
];

describe('a placeholder as other languages write it', () => {
  it.each(FOREIGN)('is refused while the class is being defined: %s', (path, found, cure) => {
    expect(defineWith(path)).toThrow(LockConfigurationError);
    expect(defineWith(path)).toThrow(
      `@Locked('${path}') on Orders.pay: ${JSON.stringify(found)} is no placeholder but text, the same in every key. ` +
        `Placeholders have a colon in front: "${cure}"`,
    );
  });

  it.each(FOREIGN)('is refused by lockKey: %s', (path) => {
    expect(() => lockKey(path, { id: 1 })).toThrow(LockConfigurationError);
  });

  it.each(FOREIGN)('may stand in a key that was computed, as a value from outside can look so: %s', (path) => {
    expect(() => checkKey(path)).not.toThrow();
  });
});

describe('a route', () => {
  it.each(['/locks/*', '/locks/**', '/locks/*rest', '/locks/*/x'])('is refused as a key: %s has a wildcard', (path) => {
    expect(defineWith(path)).toThrow(
      /is no wildcard but text: a lock is for one key, and for nothing below it\. .*":id"$/,
    );
  });

  it.each([
    ['/locks/:id?', '?'],
    ['/locks/:id*', '*'],
    ['/locks/:id+/x', '+'],
    ['/locks/:id(\\d+)', '(\\d+)'],
    ['/locks/:id(?:a|b)', '(?:a|b)'],
  ])('is refused as a key: %s has a rule behind its placeholder', (path, rule) => {
    expect(defineWith(path)).toThrow(
      `${JSON.stringify(rule)} behind ":id" is no rule as in a route, but text in every key. Write ":id" alone`,
    );
  });
});

describe('a bracket behind a placeholder', () => {
  it('may hold another one', () => {
    expect(lockKey('/locks/:tenant(no,:id)', { tenant: 'a', id: 1 })).toBe('/locks/a(no,1)');
  });

  it('does not tell two values apart by itself', () => {
    expect(() => lockKey('/locks/:tenant(:id)', { tenant: 'a', id: 1 })).toThrow(
      'two placeholders with "(" between them: different values could make the same key',
    );
  });
});

describe('a placeholder', () => {
  it.each(['/orders/:body._id.$oid', '/locks/:ref.$id', '/locks/a:ref.$id/x', '/locks/:ref.$id.$ref'])(
    'may lead to a name with a dollar sign: %s',
    (path) => {
      expect(lockKey(path, { 'body._id.$oid': 1, 'ref.$id': 1, 'ref.$id.$ref': 1 })).toMatch(
        /^\/(?:locks|orders)\/a?1/,
      );
    },
  );
});

describe('a template', () => {
  it.each([
    '/locks/100%',
    '/locks/100%off',
    '/locks/%D0%BC',
    '/locks/%d0%bc',
    '/locks/%7Bid%7D',
    '/locks/US$/:id',
    '/locks/:$id',
    '/locks/a->b',
    '/locks/:id<->x',
    '/nodes/[::1]/:id',
    '/locks/a*b',
    '/locks/2*3',
    '/locks/#general',
    '/locks/@acme/:id',
    '/locks/:id+x',
    '/locks/what?',
    '/locks/all(old)',
    '/locks/(all of them)',
    '/locks/@id',
    '/locks/~id',
  ])('may hold %s', (path) => {
    expect(() => lockKey(path, { id: 1, $id: 1 })).not.toThrow();
  });
});
