import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const virtual = join(import.meta.dirname, 'virtual.ts');
const PRELUDE = `
import { applyDecorators } from '@nestjs/common';
import { Observable, of } from 'rxjs';
import { type LockHandle, CurrentLock, Fence, injected, Locked, LockKey } from '../../../../lib/index.js';
interface Order { id: string; size: number }
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
  'a picked key': `@Locked('/a/:id') async m(@LockKey('id', (o: Order) => o.id) o: Order): Promise<void> {}`,
};

const REFUSED: Record<string, string> = {
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
  'a pick of another type': `@Locked('/a/:id') async m(@LockKey('id', (o: Order) => o) o: Order): Promise<void> {}`,
};

describe('the types of @Locked', () => {
  const errors = new Map<string, string[]>();

  beforeAll(() => {
    const cases = Object.entries({ ...FINE, ...REFUSED });
    const lines = cases.map(([, method], index) => `export class Case${index} { ${method} }`);
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

  it.each(Object.keys(REFUSED))('refuse %s', (name) => {
    expect(errors.get(name)).toBeDefined();
  });

  it('find nothing wrong elsewhere', () => {
    const known = new Set([...Object.keys(FINE), ...Object.keys(REFUSED)]);
    expect([...errors].filter(([name]) => !known.has(name))).toEqual([]);
  });

  it('say why', () => {
    expect(errors.get('skipping where undefined is no answer')?.join()).toContain('not in its return type');
    expect(errors.get('a key too many')?.join()).toContain('no placeholders of the path');
    expect(errors.get('keys of other parameters')?.join()).toContain('keys does not take what the method does');
  });
});

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
