import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { breakLine, clearLine, drainLine, quoted } from '../../../../lib/extras/doctor/findings/command-lines.js';

const NASTY = [
  '/locks/42',
  "/locks/o'brien",
  "/it's/'quoted'",
  '/a b/  two  spaces ',
  '/$HOME/$(id)/`id`',
  '/"double"/\\back\\slash\\',
  '/a;rm -rf x/&&/|/>out/<in/#no/!history/*?[a-z]{1,2}/~',
  "/'",
  "/ends with a quote'",
  '/größe/鍵/\u2028/%2F',
];

/** What a shell makes of a line: its words. */
function words(line: string): string[] {
  const script = `npx() { for word in "$@"; do printf '%s\\0' "$word"; done; }; ${line}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', cwd: '/' }).split('\0').slice(0, -1);
}

describe('A line for the shell', () => {
  const command = ['-p', 'nestjs-zookeeper-lock', 'zk-lock'];
  const token = ['--token', '4294967301'];

  it.each(NASTY)('gives the command the key as it is: %j', (key) => {
    const reason = `because ${key}`;
    const named = { key, namespace: '' };
    const end = ['--reason', reason];
    expect(words(breakLine(named, 4294967301n, reason))).toEqual([...command, 'break', key, ...token, ...end]);
    expect(words(clearLine(named, 4294967301n, reason))).toEqual([...command, 'clear', key, ...token, ...end]);
    expect(words(drainLine(named, reason))).toEqual([...command, 'drain', key, ...end]);
  });

  it.each(NASTY)('names the namespace, without which it would mean another lock: %j', (namespace) => {
    const named = { key: '/locks/42', namespace };
    const [start, end] = [
      ['/locks/42', '--namespace', namespace],
      ['--reason', 'why'],
    ];
    expect(words(breakLine(named, 4294967301n, 'why'))).toEqual([...command, 'break', ...start, ...token, ...end]);
    expect(words(clearLine(named, 4294967301n, 'why'))).toEqual([...command, 'clear', ...start, ...token, ...end]);
    expect(words(drainLine(named, 'why'))).toEqual([...command, 'drain', ...start, ...end]);
  });

  it('is no more than the key in quotes for most keys', () => {
    expect(quoted('/locks/42')).toBe("'/locks/42'");
  });
});
