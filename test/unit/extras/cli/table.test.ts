import { describe, expect, it } from '@jest/globals';
import { tableLines } from '../../../../lib/extras/cli/table.js';
import { widthOf } from '../../../../lib/extras/cli/words.js';

const COLUMNS = [
  { title: 'KEY', cut: 'middle' },
  { title: 'TOKEN', align: 'right' },
  { title: 'WHO', cut: 'end' },
] as const;
const TOKEN = '9223372036854775807';
const WIDE = [`/locks/${'x'.repeat(70)}/end`, TOKEN, 'y'.repeat(50)];

describe('A table', () => {
  it('is as wide as its cells where there is room', () => {
    expect(
      tableLines(
        COLUMNS,
        [
          ['/a', '17', 'web'],
          ['/bcd', '4', '-'],
        ],
        80,
      ),
    ).toEqual(['KEY   TOKEN  WHO', '/a       17  web', '/bcd      4  -']);
  });

  it('cuts names and keys to fit, and never a token', () => {
    const [, line = ''] = tableLines(COLUMNS, [WIDE], 80);
    expect(widthOf(line)).toBe(80);
    expect(line).toMatch(/^\/locks\/x+…x+\/end +9223372036854775807 {2}y{15}…$/);
  });

  it('keeps something of each column on a terminal that is far too narrow', () => {
    const [, line = ''] = tableLines(COLUMNS, [WIDE], 20);
    expect(line).toContain(TOKEN);
    expect(line.startsWith('/')).toBe(true);
  });

  it('cuts nothing for a pipe', () => {
    expect(tableLines(COLUMNS, [WIDE], Infinity)[1]).toBe(WIDE.join('  '));
  });
});
