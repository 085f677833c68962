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

/** By place; of what is destructured, the names of one place are joined. */
function namesOf(source: string): (string | undefined)[] {
  const names: (string | undefined)[] = [];
  for (const { name, index, property } of parameterNames(method(source))) {
    const shown = property === undefined ? name : `${property}>${name}`;
    names[index] = names[index] === undefined ? shown : `${names[index]} ${shown}`;
  }
  return [...names];
}

function defaultsOf(source: string): unknown[] {
  return parameterNames(method(source)).map(({ defaultValue }) =>
    defaultValue?.kind === 'literal' ? defaultValue.value : defaultValue?.kind,
  );
}

describe('parameterNames', () => {
  it.each([
    ['m() {}', []],
    ['m(id, tenant) {}', ['id', 'tenant']],
    ['async m(id, token = injected()) {}', ['id', 'token']],
    ['async *m(id) {}', ['id']],
    ['m([first], ...rest) {}', []],
    ['m(a = { x: [1, 2] }, id) {}', ['a', 'id']],
    ['m(a = (x, y) => x, id) {}', ['a', 'id']],
    ["m(a = \"),(\", b = '\\'(', id) {}", ['a', 'b', 'id']],
    ['m(/* first, ( */ id, // the tenant, )\n tenant) {}', ['id', 'tenant']],
    ['["a (b"](id) {}', ['id']],
    ['async ["x" + (1)](id) {}', ['id']],
    ['m: function (id) {}', ['id']],
    ['m: async (id) => id', ['id']],
    ['m: (id = "=>") => id', ['id']],
  ])('are read off %s', (source, expected) => {
    expect(namesOf(source)).toEqual(expected);
  });

  it.each([
    ['m({ id }) {}', ['id>id']],
    ['m({ id: orderId, tenant = "x" }, other) {}', ['id>orderId tenant>tenant', 'other']],
    ['m({ id = { a: [1, 2] }, ...others } = {}) {}', ['id>id']],
    // As a minifier leaves it.
    ['m({ orderId: e }) {}', ['orderId>orderId']],
    ['m({ order: { id } }, [{ id: other }], { ["x" + 1]: computed }) {}', []],
  ])('are read off what is destructured one level deep: %s', (source, expected) => {
    expect(namesOf(source)).toEqual(expected);
  });

  it.each([
    ['m(a = /[,(]/, id) {}', ['a', 'id']],
    ['m(a = `,(`, id) {}', ['a', 'id']],
    ['m(a = `${[`)`, 1].join(",")}`, id) {}', ['a', 'id']],
    ['m(a = 4 / 2, b = (4) / 2, c = x[0] / 2, id) {}', ['a', 'b', 'c', 'id']],
    ['m(a = (text) => { return /,[/(]/.test(text); }, id) {}', ['a', 'id']],
  ])('are read off %s, whose default values take more reading', (source, expected) => {
    expect(namesOf(source)).toEqual(expected);
  });

  it.each(['m(a = x++ / 2, b = ")/", id) {}', 'm(a = (() => {})\n(1) / 1, b = {} / 2, id) {}', 'm: id => other(name)'])(
    'are none for %s, where only a parser could tell',
    (source) => {
      expect(namesOf(source)).toEqual([]);
    },
  );

  it('are found where an old target has moved them with their default values', () => {
    const __awaiter = 'return __awaiter(this, arguments, void 0, function* (id = "x", order) { yield id; });';
    expect(namesOf(`m() { ${__awaiter} }`)).toEqual(['id', 'order']);
    expect(namesOf(`m() { ${__awaiter.replace('__awaiter', 'tslib_1.__awaiter')} }`)).toEqual(['id', 'order']);
  });

  it('come with default values, as far as these can be read off', () => {
    expect(defaultsOf('m(a = \'x\', b = "y" /* , */, c = `z`, d = 5, e = 7n) {}')).toEqual(['x', 'y', 'z', 5, 7n]);
    expect(defaultsOf("m(a = 'x' + 1, b = `${1}`, c = '\\n', d = 1 + 1, e = 7.5, f = new Date()) {}")).toEqual(
      Array.from({ length: 6 }, () => 'computed'),
    );
    expect(defaultsOf("m(plain, { a = 'x', b } = {}, { c } = { c: 1 }, { d = 1 } = load()) {}")).toEqual([
      undefined,
      'x',
      undefined,
      undefined,
      1,
    ]);
    expect(parameterNames(method('m({ a }, { b } = {}, { c } = { c: 1 }) {}'))).toMatchObject([
      { name: 'a', isOfUnknownDefault: false },
      { name: 'b', isOfUnknownDefault: false },
      { name: 'c', isOfUnknownDefault: true },
    ]);
  });

  it('are none for what was written by no one', () => {
    expect(parameterNames(method('m(id) {}').bind(undefined))).toEqual([]);
  });
});
