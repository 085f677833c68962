import { describe, expect, it } from '@jest/globals';
import { AppendLog } from './demo/appender.js';
import { judge } from './demo/verdict.js';

/** Three lines were acknowledged, in this order of tokens, and one request broke off. */
function told(): AppendLog {
  const log = new AppendLog();
  for (const line of ['one', 'two', 'three', 'broken off']) log.sent.add(line);
  log.acknowledged.push(
    { line: 'three', fencingToken: 30n, pid: 1, atMs: 1 },
    { line: 'one', fencingToken: 9n, pid: 1, atMs: 2 },
    { line: 'two', fencingToken: 10n, pid: 2, atMs: 3 },
  );
  log.unanswered.push('broken off');
  return log;
}

const GOOD = { lost: 0, torn: 0, isInOrderOfTokens: true };

describe('the verdict of the demo', () => {
  it('is good about a file with every line once, in the order of the tokens', () => {
    expect(judge('one\ntwo\nthree\n', told())).toEqual({ ...GOOD, lines: 3, unansweredButThere: 0 });
  });

  it('lets a line be there whose request broke off', () => {
    expect(judge('one\ntwo\nbroken off\nthree\n', told())).toMatchObject({ ...GOOD, unansweredButThere: 1 });
  });

  it.each([
    ['a line is lost', 'one\nthree\n', { lost: 1 }],
    ['a line is there twice', 'one\ntwo\ntwo\nthree\n', { lost: 1 }],
    ['a line is torn', 'one\nt\nthree\n', { lost: 1, torn: 1 }],
    ['two lines run into each other', 'onetwo\nthree\n', { lost: 2, torn: 1 }],
    ['the end is missing', 'one\ntwo\nthree\nbro', { torn: 1 }],
    ['the order is another', 'two\none\nthree\n', { isInOrderOfTokens: false }],
    ['the file is empty', '', { lost: 3 }],
  ])('sees when %s', (_what, text, faults) => {
    expect(judge(text, told())).toMatchObject(faults);
  });
});
