import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { CommandLines, quoted } from '../../../../lib/extras/doctor/findings/command-lines.js';

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
  const lines = new CommandLines();

  it.each(NASTY)('gives the command the key as it is: %j', (key) => {
    const reason = `because ${key}`;
    const named = { key, namespace: '' };
    const end = ['--reason', reason];
    expect(words(lines.break(named, 4294967301n, reason))).toEqual([...command, 'break', key, ...token, ...end]);
    expect(words(lines.clear(named, 4294967301n, reason))).toEqual([...command, 'clear', key, ...token, ...end]);
    expect(words(lines.drain(named, reason))).toEqual([...command, 'drain', key, ...end]);
  });

  it.each(NASTY)('names the namespace, without which it would mean another lock: %j', (namespace) => {
    const named = { key: '/locks/42', namespace };
    const [start, end] = [
      ['/locks/42', '--namespace', namespace],
      ['--reason', 'why'],
    ];
    expect(words(lines.break(named, 4294967301n, 'why'))).toEqual([...command, 'break', ...start, ...token, ...end]);
    expect(words(lines.clear(named, 4294967301n, 'why'))).toEqual([...command, 'clear', ...start, ...token, ...end]);
    expect(words(lines.drain(named, 'why'))).toEqual([...command, 'drain', ...start, ...end]);
  });

  it.each(NASTY)('repeats what is said of the connection as it is: %j', (value) => {
    const options = [
      '--connect',
      `zk1:2181,zk2:2181${value}`,
      '--tls',
      '--tls-ca',
      value,
      `--tls-servername=-${value}`,
    ];
    const more = new CommandLines(options);
    const named = { key: '/locks/42', namespace: '/app' };
    const start = ['/locks/42', '--namespace', '/app', ...options];
    const end = ['--reason', 'why'];
    expect(words(more.break(named, 4294967301n, 'why'))).toEqual([...command, 'break', ...start, ...token, ...end]);
    expect(words(more.clear(named, 4294967301n, 'why'))).toEqual([...command, 'clear', ...start, ...token, ...end]);
    expect(words(more.drain(named, 'why'))).toEqual([...command, 'drain', ...start, ...end]);
  });

  it('has the package for Kerberos where that is asked for', () => {
    const line = new CommandLines(['--kerberos-principal', 'app']).drain({ key: '/a', namespace: '' }, 'why');
    expect(line).toMatch(/^npx -p nestjs-zookeeper-lock -p kerberos zk-lock drain '\/a' --kerberos-principal 'app' /);
  });

  it('is no more than the key in quotes for most keys', () => {
    expect(quoted('/locks/42')).toBe("'/locks/42'");
  });
});
