import { describe, expect, it } from '@jest/globals';
import { lockKeyTemplate, LockKeyTemplate } from '../../../../lib/nest/locked/key-template.js';

describe('a key template', () => {
  it('is literals with placeholders between them', () => {
    const template = new LockKeyTemplate('/locks/:tenant/order-:id/:body.order.id');
    expect(template.placeholders).toEqual(['tenant', 'id', 'body.order.id']);
    expect(template.keyFrom((name, index) => `${index}${name}`)).toBe('/locks/0tenant/order-1id/2body.order.id');
  });

  it('leaves a colon alone that no name follows', () => {
    expect(new LockKeyTemplate('/locks/12:30/a:').placeholders).toEqual([]);
  });

  it.each(['/locks/:', '/locks/:/a', '/locks/:1a', '/locks/::a'])(
    'refuses %s: a placeholder without a name',
    (path) => {
      expect(() => lockKeyTemplate(path, 'here')).toThrow(/^here: a ":" at the beginning of a segment without a name/);
    },
  );

  it('shows the path as it was written', () => {
    expect(() => lockKeyTemplate('locks/:id', 'here')).toThrow('Not a lock key: "locks/:id"');
  });

  it.each(['/locks/:a.', '/locks/:a..b', '/locks/:a.b.'])('refuses an empty part in %s', (path) => {
    expect(() => lockKeyTemplate(path, 'here')).toThrow(/^here: the placeholder ":.*" has an empty part/);
  });

  it.each(['locks/:id', '/locks/:id/', '/locks//:id', '/locks/../:id', '/'])(
    'refuses %s, which can be no key',
    (path) => {
      expect(() => lockKeyTemplate(path, 'here')).toThrow(/^here: Not a lock key/);
    },
  );

  it.each(['/locks/:a:b', '/locks/:a-:b', '/locks/:a%2C:b'])(
    'refuses %s: different values could make one key',
    (path) => {
      expect(() => lockKeyTemplate(path, 'here')).toThrow(/different values could make the same key/);
    },
  );

  it.each(['/locks/:a,:b', '/locks/:a@:b', '/locks/:a::b'])('tells the values of %s apart', (path) => {
    const build = (values: string[]): string => new LockKeyTemplate(path).keyFrom((_, index) => values[index]);
    const separator = path.charAt('/locks/:a'.length);

    expect(build([`x${separator}y`, 'z'])).not.toBe(build(['x', `y${separator}z`]));
  });

  it.each([
    ['/locks/a', []],
    ['/locks/:id', ['x']],
    ['/locks/:tenant/orders/:id', ['a/b', '..']],
    ['/locks/x-:a-/:b.c,:d+(:e', ['--', 'ü €', "a'b()*!~", '100%']],
    ['/100%/$/^:a$', ['$&']],
    ['/locks/:id/:id', ['7', '7']],
  ])('finds the values again in a key of %s', (path, values) => {
    const template = new LockKeyTemplate(path);
    const found = template.valuesOf(template.keyFrom((_, index) => values[index]));
    expect(template.placeholders.map((name) => found[name])).toEqual(values);
  });

  it('puts encoded values in', () => {
    expect(new LockKeyTemplate('/locks/:a/x/:b').keyOf({ a: '1/2', b: 3n })).toBe('/locks/1%2F2/x/3');
  });
});
