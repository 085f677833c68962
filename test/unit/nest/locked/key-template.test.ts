import { describe, expect, it } from '@jest/globals';
import { keyBuilder, parseKeyTemplate } from '../../../../lib/nest/locked/key-template.js';

describe('a key template', () => {
  it('is literals with placeholders between them', () => {
    expect(parseKeyTemplate('/locks/:tenant/order-:id/:body.order.id', 'here')).toEqual({
      path: '/locks/:tenant/order-:id/:body.order.id',
      literals: ['/locks/', '/order-', '/', ''],
      placeholders: ['tenant', 'id', 'body.order.id'],
    });
  });

  it('leaves a colon alone that no name follows', () => {
    expect(parseKeyTemplate('/locks/12:30/a:', 'here').placeholders).toEqual([]);
  });

  it.each(['/locks/:', '/locks/:/a', '/locks/:1a', '/locks/::a'])(
    'refuses %s: a placeholder without a name',
    (path) => {
      expect(() => parseKeyTemplate(path, 'here')).toThrow(/^here: a ":" at the beginning of a segment without a name/);
    },
  );

  it('shows the path as it was written', () => {
    expect(() => parseKeyTemplate('locks/:id', 'here')).toThrow('Not a lock key: "locks/:id"');
  });

  it.each(['/locks/:a.', '/locks/:a..b', '/locks/:a.b.'])('refuses an empty part in %s', (path) => {
    expect(() => parseKeyTemplate(path, 'here')).toThrow(/^here: the placeholder ":.*" has an empty part/);
  });

  it.each(['locks/:id', '/locks/:id/', '/locks//:id', '/locks/../:id', '/'])(
    'refuses %s, which can be no key',
    (path) => {
      expect(() => parseKeyTemplate(path, 'here')).toThrow(/^here: Not a lock key/);
    },
  );

  it.each(['/locks/:a:b', '/locks/:a-:b', '/locks/:a%2C:b'])(
    'refuses %s: different values could make one key',
    (path) => {
      expect(() => parseKeyTemplate(path, 'here')).toThrow(/different values could make the same key/);
    },
  );

  it.each(['/locks/:a,:b', '/locks/:a@:b', '/locks/:a::b'])('tells the values of %s apart', (path) => {
    const template = parseKeyTemplate(path, 'here');
    const build = keyBuilder(template, [(args) => args[0], (args) => args[1]]);
    const separator = path.charAt('/locks/:a'.length);

    expect(build([`x${separator}y`, 'z'])).not.toBe(build(['x', `y${separator}z`]));
  });

  it('puts encoded values in', () => {
    const build = keyBuilder(parseKeyTemplate('/locks/:a/x/:b', 'here'), [([a]) => a, ([, b]) => b]);

    expect(build(['1/2', 3n])).toBe('/locks/1%2F2/x/3');
  });
});
