import { runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { parameterNames } from '../../../../lib/nest/locked/parameter-names.js';

type AnyFunction = (...args: never[]) => unknown;

/** Compiled code, not what our own compiler makes of it. */
function method(source: string): AnyFunction {
  const [made] = Object.values(runInThisContext(`({ ${source} })`) as Record<string, AnyFunction>);
  if (made === undefined) throw new Error('no method in the source');
  return made;
}

describe('parameterNames', () => {
  it.each([
    ['m() {}', []],
    ['m(id, tenant) {}', ['id', 'tenant']],
    ['async m(id, token = injected()) {}', ['id', 'token']],
    ['async *m(id) {}', ['id']],
    ['m({ id }, [first], ...rest) {}', [undefined, undefined, undefined]],
    ['m(a = { x: [1, 2] }, id) {}', ['a', 'id']],
    ['m(a = (x, y) => x, id) {}', ['a', 'id']],
    ["m(a = \"),(\", b = '\\'(', id) {}", ['a', 'b', 'id']],
    ['m(/* first, ( */ id, // the tenant, )\n tenant) {}', ['id', 'tenant']],
    ['["a (b"](id) {}', ['id']],
    ['async ["x" + (1)](id) {}', ['id']],
    ['m: function (id) {}', ['id']],
  ])('of %s', (source, expected) => {
    expect(parameterNames(method(source))).toEqual(expected);
  });

  it.each(['m(a = /[,(]/, id) {}', 'm(a = `,(`, id) {}', 'm(a = 4 / 2, id) {}'])(
    'are none for %s, too hard to read',
    (source) => {
      expect(parameterNames(method(source))).toEqual([]);
    },
  );

  it('are none for what was written by no one', () => {
    expect(parameterNames(method('m(id) {}').bind(undefined))).toEqual([]);
  });
});
