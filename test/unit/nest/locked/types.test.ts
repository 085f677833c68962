import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const virtual = join(import.meta.dirname, 'virtual.ts');
const PRELUDE = `
import { applyDecorators, SetMetadata } from '@nestjs/common';
import { Observable, of } from 'rxjs';
import { type LockHandle, CurrentLock, Fence, injected, Locked, LockKey, lockKey, Recover, type LockKeyValues, type RecoveredValues } from '../../../../lib/index.js';
import { RequireFence } from '../../../../lib/fencing/index.js';
interface Order { id: string; size: number }
declare const anything: any;
declare const unknownPath: string;
const known = '/a';
const house = <P extends string>(path: P) => Locked(path);
const reused = Locked('/a/:id', { keys: (o: Order) => ({ id: o.id }) });
`;

/** Each stands in a class of its own; the key is what the test says. */
const FINE: Record<string, string> = {
  'a promise': `@Locked('/a/:id') async m(id: string): Promise<void> {}`,
  'a promise-like thing': `@Locked('/a') m(): PromiseLike<number> { return Promise.resolve(1); }`,
  'an Observable': `@Locked('/a') m(): Observable<string> { return of('x'); }`,
  'an async generator': `@Locked('/a') async *m(): AsyncGenerator<string> { yield 'x'; }`,
  'an async iterable': `@Locked('/a', { returns: 'async-iterable' }) m(): AsyncIterable<string> { throw 0; }`,
  'a private method': `@Locked('/a') private async m(): Promise<void> {} n() { return this.m(); }`,
  'a generic method': `@Locked('/a') async m<T>(value: T): Promise<T> { return value; }`,
  'keys with exactly the placeholders': `@Locked('/a/:tenant/:id', { keys: (o: Order) => ({ tenant: o.size, id: o.id }) }) async m(o: Order): Promise<void> {}`,
  'keys for dotted placeholders': `@Locked('/a/:o.id', { keys: (o: Order) => ({ 'o.id': o.id }) }) async m(o: Order): Promise<void> {}`,
  'keys for placeholders inside segments': `@Locked('/a/x-:id/:b,:c', { keys: () => ({ id: 1n, b: 'b', c: 2 }) }) async m(): Promise<void> {}`,
  'keys that need less than the method has': `@Locked('/a/:id', { keys: (o: { id: string }) => ({ id: o.id }) }) async m(o: Order, x: number): Promise<void> {}`,
  'a function of the arguments': `@Locked((o: Order) => '/a/' + o.id) async m(o: Order, x: number): Promise<void> {}`,
  'a path that the compiler does not know': `@Locked('/a' as string, { keys: () => ({ id: 1 }) }) async m(): Promise<void> {}`,
  'every option': `@Locked('/a', { name: 'n', mode: 'read', waitMs: 1, leaseMs: 2, reentrant: false, label: 'l', returns: 'promise', paramNames: false, subscribeWithinMs: 5, onLost: ({ key, token, reason, by }) => [key, token, reason, by] }) async m(): Promise<void> {}`,
  'skipping where undefined is an answer': `@Locked('/a', { onBusy: 'skip' }) async m(): Promise<number | undefined> { return 1; } @Locked('/a', { onBusy: 'skip' }) async n(): Promise<void> {}`,
  'another answer of the same type': `@Locked('/a', { onBusy: (error) => error.message.length }) async m(): Promise<number> { return 1; }`,
  'throwing instead': `@Locked('/a', { onBusy: (error): never => { throw error; } }) async m(): Promise<number> { return 1; }`,
  'injected parameters': `@Locked('/a/:id') async m(id: string, @Fence() token: bigint = injected(), @CurrentLock() lock: LockHandle = injected()): Promise<void> { void [token, lock]; } n() { return this.m('x'); }`,
  'a part of applyDecorators': `@applyDecorators(Locked('/a', { onBusy: 'skip' })) async m(): Promise<void> {}`,
  'keys whose parameters have no types': `@Locked('/a/:id', { keys: (o) => ({ id: o.id.trim() }) }) async m(o: Order): Promise<void> {}`,
  'keys without types on a private method': `@Locked('/a/:id', { keys: (o, x) => ({ id: o.size + x }) }) private async m(o: Order, x: number): Promise<void> {} n() { return this.m(anything, 1); }`,
  'keys without types on an Observable': `@Locked('/a/:id', { keys: (o) => ({ id: o.id }) }) m(o: Order): Observable<Order> { return of(o); }`,
  'keys without types on an async generator': `@Locked('/a/:id', { keys: (o) => ({ id: o.id }) }) async *m(o: Order): AsyncGenerator<Order> { yield o; }`,
  'keys without types beside other options': `@Locked('/a/:id', { waitMs: 5, onBusy: (error) => error.message, keys: (o) => ({ id: o.id }) }) async m(o: Order): Promise<string> { return o.id; }`,
  'keys of the type of the rest': `@Locked('/a/:id', { keys: (...args) => ({ id: args[0].id }) }) async m(o: Order, x: string): Promise<void> {}`,
  'a function without types': `@Locked((o) => '/a/' + o.id) async m(o: Order): Promise<void> {}`,
  'a function of the instance': `area = 'x'; @Locked(function (this: { area: string }, o: Order) { return this.area + o.id; }) async m(o: Order): Promise<void> {}`,
  'a pick without types': `@Locked('/a/:id') async m(@LockKey('id', (o) => o.id.trim()) o: Order): Promise<void> {}`,
  'a pick of what may be missing': `@Locked('/a/:id') async m(@LockKey('id', (o) => o?.id ?? 'none') o?: Order): Promise<void> {}`,
  'a pick that needs less than the parameter has': `@Locked('/a/:id') async m(@LockKey('id', (o: { id: string }) => o.id) o: Order): Promise<void> {}`,
  'a pick on a private method': `@Locked('/a/:id') private async m(@LockKey('id', (o: Order) => o.id) o: Order): Promise<void> {} n() { return this.m(anything); }`,
  'options of type any': `@Locked('/a/:id', anything) async m(id: string): Promise<void> {}`,
  'keys of type any': `@Locked('/a/:id', { keys: anything }) async m(id: string): Promise<void> {}`,
  'a path of type any': `@Locked(anything) async m(id: string): Promise<void> {}`,
  'a decorator that is used again': `@reused async m(o: Order): Promise<void> {} @reused async n(o: Order, x: number): Promise<number> { return x; }`,
  'a path with a beginning that the compiler does not know':
    '@Locked(`${unknownPath}/:id`) async m(id: string): Promise<void> {}',
  'a path with a beginning that it knows':
    '@Locked(`${known}/:id`, { keys: (id) => ({ id }) }) async m(id: string): Promise<void> {}',
  'a path like a conversion': `@Locked('/a/100%/a->b/[::1]/:a<->:b', { keys: (a, b) => ({ a, b }) }) async m(a: string, b: string): Promise<void> {}`,
  'a generic method, with keys': `@Locked('/a/:id', { keys: (o) => ({ id: o.id }) }) async m<T extends Order>(o: T): Promise<T> { return o; }`,
  'a generic method, with keys of its bound': `@Locked('/a/:id', { keys: (o: Order) => ({ id: o.id }) }) async m<T extends Order>(o: T): Promise<T> { return o; }`,
  'a generic method, with a pick': `@Locked('/a/:id') async m<T extends Order>(@LockKey('id', (o) => o.id) o: T, @Fence() token: bigint): Promise<T> { void token; return o; }`,
  'a token of an alias, of a union, of a brand, of unknown': `@Locked('/a') async m(@Fence() a: string | bigint, @Fence() b: bigint & { brand: 'token' }, @Fence() c: unknown, @Fence() d?: bigint): Promise<void> { void [a, b, c, d]; }`,
  'a part of the handle': `@Locked('/a') async m(@CurrentLock() lock: Pick<LockHandle, 'key'>): Promise<void> { void lock; }`,
  'parameter decorators as Nest knows them': `all: ParameterDecorator[] = [Fence(), CurrentLock(), LockKey('id'), LockKey('id', (o: Order) => o.id)];`,
  "a decorator of the house's own": `@house('/a/:id') async m(id: string): Promise<void> {}`,
  'the policy after a holder that vanished': `@Locked('/a', { atLeastMs: 5, onAbandoned: 'recover' }) async m(): Promise<void> {}`,
  'a recovery': `@Recover('/a/:tenant/:id') async m(lock: LockHandle, values: { id: string; tenant: string }): Promise<void> { void [lock, values]; }`,
  'a recovery that takes less': `@Recover('/a/:tenant/:id') async m(lock: LockHandle, { id }: { id: string }): Promise<number> { void [lock, id]; return 1; } @Recover('/b', { name: 'n' }) async n(): Promise<void> {}`,
  'a recovery without values': `@Recover('/a/:id') async m(lock: LockHandle): Promise<void> { void lock; }`,
  'a recovery of a dotted placeholder': `@Recover('/a/:o.id') async m(_lock: LockHandle, values: { 'o.id': string }): Promise<void> { void values; }`,
  'a recovery that is synchronous': `@Recover('/a/:id') m(): void {}`,
  'a private recovery': `@Recover('/a/:id') private async m(): Promise<void> {} n() { return this.m(); }`,
  'a recovery of a path that the compiler does not know': `@Recover('/a' as string) async m(_lock: LockHandle, values: Record<string, string>): Promise<void> { void values; }`,
  'a recovery with the values of its path': `@Recover('/a/:id') async m(_lock: LockHandle, values: RecoveredValues<'/a/:id'>): Promise<void> { void values.id; }`,
  'a part of applyDecorators with a recovery': `@applyDecorators(SetMetadata('a', 1), Recover('/a/:id')) async m(): Promise<void> {}`,
  'a picked key': `@Locked('/a/:id') async m(@LockKey('id', (o: Order) => o.id) o: Order): Promise<void> {}`,
};

/** Functions that make a decorator or a key of what they are given, as applications write them around ours. */
const WRAPPERS: Record<string, string> = {
  'a path of any text': `(path: string) { return applyDecorators(SetMetadata('a', 1), Locked(path)); }`,
  'a path of a type parameter': `<P extends string>(path: P) { return Locked(path); }`,
  'a path of a const type parameter': `<const P extends string>(path: P) { return Locked(path, { waitMs: 5 }); }`,
  'a path of a type parameter, in applyDecorators': `<P extends string>(path: P) { return applyDecorators(SetMetadata('a', 1), Locked(path, { onBusy: 'skip' })); }`,
  'a path of a type parameter that begins with a slash': '<P extends `/${string}`>(path: P) { return Locked(path); }',
  'a path that ends with a type parameter':
    '<T extends string>(resource: T) { return Locked(`/locks/${resource}/:id`); }',
  'a path of a type parameter of few texts': `<P extends '/a/:id' | '/b/:id'>(path: P) { return Locked(path); }`,
  'a key of a type parameter': `<P extends string>(path: P, values: LockKeyValues<P>) { return lockKey(path, values); }`,
  'a key of a type parameter that begins with a slash':
    '<P extends `/${string}`>(path: P, values: LockKeyValues<P>) { return lockKey(path, values); }',
  'a fence of a type parameter': `<P extends string>(path: P) { return applyDecorators(SetMetadata('a', 1), RequireFence(path)); }`,
  'a fence that ends with a type parameter':
    '<T extends string>(resource: T) { return RequireFence(`/locks/${resource}/:id`); }',
};

/** The same, in a class with a type parameter. */
const GENERIC: Record<string, string> = {
  'a method of the type': `@Locked('/a') async m(o: T): Promise<T> { return o; }`,
  'a binding of a part of it': `@Locked('/a/:order.id') async m(order: T): Promise<T> { return order; }`,
  'keys without types': `@Locked('/a/:id', { keys: (o) => ({ id: o.id }) }) async m(o: T): Promise<T> { return o; }`,
  'keys of the bound': `@Locked('/a/:id', { keys: (o: { id: string }) => ({ id: o.id }) }) async m(o: T): Promise<T> { return o; }`,
  'a function of the bound': `@Locked((o: { id: string }) => '/a/' + o.id) async m(o: T): Promise<T> { return o; }`,
  'a pick': `@Locked('/a/:id') async m(@LockKey('id', (o) => o.id) o: T, @Fence() token: bigint = injected()): Promise<T> { void token; return o; }`,
  'a pick of the bound': `@Locked('/a/:id') async m(@LockKey('id', (o: Order) => o.id) o: T): Promise<T> { return o; }`,
  'skipping where undefined is an answer': `@Locked('/a', { onBusy: 'skip' }) async m(o: T): Promise<T | undefined> { return o; }`,
  'an Observable': `@Locked('/a/:id', { keys: (o) => ({ id: o.id }) }) m(o: T): Observable<T> { return of(o); }`,
  'an async generator': `@Locked('/a') async *m(o: T): AsyncGenerator<T> { yield o; }`,
  'a generic method': `@Locked('/a/:id', { keys: (o, x) => ({ id: o.id + String(x) }) }) async m<U>(o: T, x: U): Promise<U> { void o; return x; }`,
};

const REFUSED: Record<string, string> = {
  'a relative key': `m = lockKey('a/:id', { id: 1 });`,
  'a fence with a placeholder of another language': '@RequireFence("/a/${id}") async m(id: string): Promise<void> {}',
  'a synchronous method': `@Locked('/a') m(): string { return 'x'; }`,
  'a method that is synchronous now and then': `@Locked('/a') m(): string | Promise<string> { return 'x'; }`,
  'a method without a result': `@Locked('/a') m(): void {}`,
  'a generator': `@Locked('/a') *m() { yield 1; }`,
  'an accessor': `@Locked('/a') get m() { return Promise.resolve(1); }`,
  'a missing key': `@Locked('/a/:tenant/:id', { keys: (o: Order) => ({ id: o.id }) }) async m(o: Order): Promise<void> {}`,
  'a key too many': `@Locked('/a/:id', { keys: (o: Order) => ({ id: o.id, tenant: 'x' }) }) async m(o: Order): Promise<void> {}`,
  'a key of another type': `@Locked('/a/:id', { keys: (o: Order) => ({ id: o }) }) async m(o: Order): Promise<void> {}`,
  'a key that may be missing': `@Locked('/a/:id', { keys: (o: Partial<Order>) => ({ id: o.id }) }) async m(o: Order): Promise<void> {}`,
  'keys of other parameters': `@Locked('/a/:id', { keys: (n: number) => ({ id: n }) }) async m(o: Order): Promise<void> {}`,
  'keys of more parameters': `@Locked('/a/:id', { keys: (o: Order, id: string) => ({ id }) }) async m(o: Order): Promise<void> {}`,
  'a function of other parameters': `@Locked((n: number) => '/a/' + n) async m(o: Order): Promise<void> {}`,
  'a function that makes no text': `@Locked((o: Order) => o.size) async m(o: Order): Promise<void> {}`,
  'an option that does not exist': `@Locked('/a', { waitMS: 5 }) async m(): Promise<void> {}`,
  'an option of another type': `@Locked('/a', { waitMs: '5' }) async m(): Promise<void> {}`,
  'a signal': `@Locked('/a', { signal: AbortSignal.abort() }) async m(): Promise<void> {}`,
  'skipping where undefined is no answer': `@Locked('/a', { onBusy: 'skip' }) async m(): Promise<number> { return 1; }`,
  'another answer of another type': `@Locked('/a', { onBusy: () => 'x' }) async m(): Promise<number> { return 1; }`,
  'a relative path': `@Locked('a/:id') async m(id: string): Promise<void> {}`,
  'an empty path': `@Locked('') async m(id: string): Promise<void> {}`,
  'a placeholder of another language': '@Locked("/a/${id}") async m(id: string): Promise<void> {}',
  'a placeholder in brackets': `@Locked('/a/<id>') async m(id: string): Promise<void> {}`,
  'keys without types that read what is not there': `@Locked('/a/:id', { keys: (o) => ({ id: o.nope }) }) async m(o: Order): Promise<void> {}`,
  'a function without types that reads what is not there': `@Locked((o) => '/a/' + o.nope) async m(o: Order): Promise<void> {}`,
  'a decorator that is used again, for other parameters': `@reused async m(o: number): Promise<void> {}`,
  'keys of other parameters, of a generic method': `@Locked('/a/:id', { keys: (o: { id: number }) => ({ id: o.id }) }) async m<T extends Order>(o: T): Promise<T> { return o; }`,
  'a token that is a number': `@Locked('/a') async m(@Fence() token: number): Promise<void> {}`,
  'a token that is a text': `@Locked('/a') async m(@Fence() token: string = injected()): Promise<void> {}`,
  'a handle that is a token': `@Locked('/a') async m(@CurrentLock() lock: bigint): Promise<void> {}`,
  'a pick of another parameter': `@Locked('/a/:id') async m(@LockKey('id', (o: string) => o) o: Order): Promise<void> {}`,
  'a pick that reads what is not there': `@Locked('/a/:id') async m(@LockKey('id', (o) => o.nope) o: Order): Promise<void> {}`,
  'a pick of what may be missing, as if it were there': `@Locked('/a/:id') async m(@LockKey('id', (o) => o.id) o?: Order): Promise<void> {}`,
  'a recover function in the options': `@Locked('/a', { onAbandoned: 'recover', recover: () => undefined }) async m(): Promise<void> {}`,
  'a policy that does not exist': `@Locked('/a', { onAbandoned: 'retry' }) async m(): Promise<void> {}`,
  'a recovery of a relative path': `@Recover('a/:id') async m(): Promise<void> {}`,
  'a recovery with a value that the path has not': `@Recover('/a/:id') async m(_lock: LockHandle, values: { id: string; tenant: string }): Promise<void> { void values; }`,
  'a recovery with a value that is no text': `@Recover('/a/:id') async m(_lock: LockHandle, values: { id: number }): Promise<void> { void values; }`,
  'a recovery that takes the values first': `@Recover('/a/:id') async m(values: { id: string }): Promise<void> { void values; }`,
  'a recovery that takes more': `@Recover('/a/:id') async m(_lock: LockHandle, _values: object, more: string): Promise<void> { void more; }`,
  'a recovery that is a stream': `@Recover('/a/:id') m(): Observable<string> { return of('x'); }`,
  'a recovery that is a generator': `@Recover('/a/:id') async *m(): AsyncGenerator<string> { yield 'x'; }`,
  'a recovery that is an accessor': `@Recover('/a/:id') get m() { return 1; }`,
  'a pick of another type': `@Locked('/a/:id') async m(@LockKey('id', (o: Order) => o) o: Order): Promise<void> {}`,
};

describe('the types of @Locked', () => {
  const errors = new Map<string, string[]>();

  beforeAll(() => {
    const cases = [...Object.entries({ ...FINE, ...REFUSED }), ...Object.entries(GENERIC).map(inGenericClass)];
    const wrappers = Object.entries(WRAPPERS).map(([name, text]): [string, string] => [WRAPPER + name, text]);
    cases.push(...wrappers);
    const lines = cases.map(([name, method], index) => {
      if (name.startsWith(WRAPPER)) return `export function wrapper${index}${method}`;
      const parameter = name.startsWith(GENERIC_CLASS) ? '<T extends Order>' : '';
      return `export class Case${index}${parameter} { ${method} }`;
    });
    const source = PRELUDE + lines.join('\n');
    for (const { start = 0, messageText } of diagnose(source)) {
      const line = source.slice(0, start).split('\n').length - PRELUDE.split('\n').length;
      const name = cases[line]?.[0] ?? `line ${line}`;
      errors.set(name, [...(errors.get(name) ?? []), ts.flattenDiagnosticMessageText(messageText, '\n')]);
    }
  });

  it.each(Object.keys(FINE))('accept %s', (name) => {
    expect(errors.get(name)).toBeUndefined();
  });

  it.each(Object.keys(GENERIC))('accept, in a generic class, %s', (name) => {
    expect(errors.get(GENERIC_CLASS + name)).toBeUndefined();
  });

  it.each(Object.keys(WRAPPERS))('accept, in a function around it, %s', (name) => {
    expect(errors.get(WRAPPER + name)).toBeUndefined();
  });

  it.each(Object.keys(REFUSED))('refuse %s', (name) => {
    expect(errors.get(name)).toBeDefined();
  });

  it('find nothing wrong elsewhere', () => {
    expect([...errors.keys()].filter((name) => name.startsWith('line '))).toEqual([]);
  });

  it.each<[string, string]>([
    [
      'a relative path',
      `'"a/:id"' is not assignable to parameter of type '"a path begins with \\"/\\": \\"/a/:id\\""'`,
    ],
    ['a relative key', `parameter of type '"a path begins with \\"/\\": \\"/a/:id\\""'`],
    ['a fence with a placeholder of another language', 'a placeholder has a colon in front: \\"/locks/:id\\"'],
    ['a placeholder of another language', 'a placeholder has a colon in front: \\"/locks/:id\\"'],
    ['skipping where undefined is no answer', 'not in its return type'],
    ['a key too many', 'no placeholders of the path'],
    ['keys of other parameters', "Type 'Order' is not assignable to type 'number'"],
    ['keys without types that read what is not there', "Property 'nope' does not exist on type 'Order'"],
    ['a decorator that is used again, for other parameters', 'keys does not take what the method does'],
    ['an option that does not exist', "Did you mean to write 'waitMs'?"],
    ['a token that is a number', '"@Fence() fills a parameter of type bigint", number'],
    ['a handle that is a token', '"@CurrentLock() fills a parameter of type LockHandle", bigint'],
    ['a pick of another parameter', "Type 'Order' is not assignable to type 'string'"],
    ['a pick of what may be missing, as if it were there', "'o' is possibly 'undefined'"],
  ])('say why they refuse %s', (name, text) => {
    expect(errors.get(name)?.join('\n')).toContain(text);
  });
});

const WRAPPER = 'in a function around it, ';
const GENERIC_CLASS = 'in a generic class, ';

function inGenericClass([name, method]: [string, string]): [string, string] {
  return [GENERIC_CLASS + name, method];
}

/** What the compiler says about this source, with the options of the repository. */
function diagnose(source: string): readonly ts.Diagnostic[] {
  const read = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => ts.sys.readFile(path));
  const { compilerOptions } = read.config as { compilerOptions: object };
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...compilerOptions, noEmit: true, noUnusedParameters: false },
    root,
  );
  const host = ts.createCompilerHost(options);
  const getSourceFile = host.getSourceFile.bind(host);
  const fileExists = host.fileExists.bind(host);
  host.getSourceFile = (name, ...rest) =>
    name === virtual ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
  host.fileExists = (name) => name === virtual || fileExists(name);
  const program = ts.createProgram([virtual], options, host);
  return program.getSemanticDiagnostics(program.getSourceFile(virtual));
}
