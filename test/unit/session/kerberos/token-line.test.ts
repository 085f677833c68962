import { describe, expect, it } from '@jest/globals';
import { TokenLine } from '../../../../lib/session/kerberos/token-line.js';
import { promisesSettled } from '../../support/manual-clock.js';

/** Calls that answer when the test says so. */
class Calls {
  readonly line = new TokenLine<string>();
  readonly begun: string[] = [];
  readonly #ends: ((answer: string | Error) => void)[] = [];

  ask(name: string, signal = new AbortController().signal): Promise<string> {
    const begin = (): Promise<string> => {
      this.begun.push(name);
      return new Promise((resolve, reject) => {
        this.#ends.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      });
    };
    return this.line.ask(name, begin, signal);
  }

  async end(index: number, answer: string | Error = `${this.begun[index]} ${index}`): Promise<void> {
    this.#ends[index]!(answer);
    await promisesSettled();
  }
}

describe('The line for tokens', () => {
  it('lets two calls into the thread pool at once, and the others as these end, in order', async () => {
    const calls = new Calls();
    const answers = ['a', 'b', 'c', 'd'].map((name) => calls.ask(name));
    await promisesSettled();
    expect(calls.begun).toEqual(['a', 'b']);
    await calls.end(1);
    expect(calls.begun).toEqual(['a', 'b', 'c']);
    await calls.end(0);
    expect(calls.begun).toEqual(['a', 'b', 'c', 'd']);
    await calls.end(2);
    await calls.end(3);
    expect(await Promise.all(answers)).toEqual(['a 0', 'b 1', 'c 2', 'd 3']);
  });

  it('gives nobody a token that somebody else waits for', async () => {
    const calls = new Calls();
    const answers = [calls.ask('a'), calls.ask('a')];
    await promisesSettled();
    expect(calls.begun).toEqual(['a', 'a']);
    await calls.end(1);
    await calls.end(0);
    expect(await Promise.all(answers)).toEqual(['a 0', 'a 1']);
  });

  it('hands a call that its asker has left over to the next who asks for the same', async () => {
    const calls = new Calls();
    const gone = new AbortController();
    const first = calls.ask('a', gone.signal);
    await promisesSettled();
    gone.abort(new Error('out of patience'));
    await expect(first).rejects.toThrow('out of patience');
    const again = calls.ask('a');
    const other = calls.ask('b');
    await promisesSettled();
    expect(calls.begun).toEqual(['a', 'b']);
    await calls.end(0);
    await calls.end(1);
    expect(await Promise.all([again, other])).toEqual(['a 0', 'b 1']);
    // An answer is given once: the next token is another.
    void calls.ask('a');
    await promisesSettled();
    expect(calls.begun).toEqual(['a', 'b', 'a']);
  });

  it('begins nothing for who has left the line, or was never in it', async () => {
    const calls = new Calls();
    const gone = new AbortController();
    void calls.ask('a');
    void calls.ask('b');
    const third = calls.ask('c', gone.signal);
    await promisesSettled();
    gone.abort(new Error('out of patience'));
    await expect(third).rejects.toThrow('out of patience');
    await expect(calls.ask('d', gone.signal)).rejects.toThrow('out of patience');
    await calls.end(0);
    expect(calls.begun).toEqual(['a', 'b']);
    void calls.ask('e');
    await promisesSettled();
    expect(calls.begun).toEqual(['a', 'b', 'e']);
  });

  it('goes on after failures, also of calls that nobody waits for any more', async () => {
    const calls = new Calls();
    const gone = new AbortController();
    const left = calls.ask('a', gone.signal);
    const failing = calls.ask('b');
    const third = calls.ask('c');
    await promisesSettled();
    gone.abort(new Error('out of patience'));
    await expect(left).rejects.toThrow();
    await calls.end(0, new Error('the KDC is away'));
    failing.catch(() => undefined);
    await calls.end(1, new Error('the KDC is away'));
    await expect(failing).rejects.toThrow('the KDC is away');
    await calls.end(2);
    expect(await third).toBe('c 2');
  });
});
