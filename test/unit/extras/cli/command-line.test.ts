import { describe, expect, it } from '@jest/globals';
import { checkAgainst, readCommandLine } from '../../../../lib/extras/cli/command-line.js';
import { COMMANDS } from '../../../../lib/extras/cli/commands/commands.js';
import { spanOf } from '../../../../lib/extras/cli/flags.js';
import { commandHelp, generalHelp } from '../../../../lib/extras/cli/help.js';

function read(...args: string[]) {
  const line = readCommandLine(args, COMMANDS);
  const command = COMMANDS.find(({ name }) => name === line.command);
  if (command !== undefined) checkAgainst(command, line);
  return line;
}

describe('The command line', () => {
  it('takes options in front of the command and behind it, and leaves all behind -- to the command of run', () => {
    const line = read('--connect', 'zk1', 'run', '/a', '--once', '--', 'sh', '-c', 'x', '--once', '--', '--json');
    expect(line).toMatchObject({
      command: 'run',
      operands: ['/a'],
      childCommand: ['sh', '-c', 'x', '--once', '--', '--json'],
    });
    expect([line.flags.text('connect'), line.flags.isSet('once'), line.flags.isSet('json')]).toEqual([
      'zk1',
      true,
      false,
    ]);
  });

  it.each<[string, string[]]>([
    ['there is no option --conect', ['ls', '--conect', 'zk1']],
    ['there is no option -x', ['ls', '-x']],
    ['--connect takes a value', ['ls', '--connect']],
    ['--connect takes a value, and what follows it begins with a dash', ['ls', '--connect', '--json']],
    ['--yes takes no value', ['break', '--yes=1']],
    ['ls has no option --token', ['ls', '--token', '5']],
    ['show needs KEY', ['show']],
    ["show takes KEY, and '/b' is more than that", ['show', '/a', '/b']],
    ['write -- in front of the command', ['run', '/a', 'echo']],
    ['only run takes -- and a command', ['ls', '--', 'echo']],
  ])('is refused: %s', (text, args) => {
    expect(() => read(...args)).toThrow(text);
  });

  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['0ms', 0],
  ])('has times with a unit: %s', (text, ms) => {
    expect(spanOf('--wait', text)).toBe(ms);
  });

  it.each(['30', '', 's', '-5s', '5 s', '1d', '1e3s', 'Infinity'])('refuses %j for a time', (text) => {
    expect(() => spanOf('--wait', text)).toThrow('--wait takes a time with its unit, such as 500ms, 30s, 5m or 2h');
  });

  it('gives each option one kind of value, whichever command it is of', () => {
    const kinds = new Map<string, boolean>();
    for (const { name, value } of COMMANDS.flatMap(({ flags }) => flags)) {
      expect({ name, takesValue: kinds.get(name) ?? value !== undefined }).toEqual({
        name,
        takesValue: value !== undefined,
      });
      kinds.set(name, value !== undefined);
    }
  });
});

describe('The help', () => {
  const pages = [generalHelp(COMMANDS), ...COMMANDS.map(commandHelp)];

  it('fits a terminal of 80 columns', () => {
    const tooLong = pages.flatMap((page) => page.split('\n')).filter((line) => line.length > 80);
    expect(tooLong).toEqual([]);
    expect(pages.length).toBe(12);
  });

  it('says what it says in sentences that can be read at a glance: of thirty words at the most', () => {
    const sentences = COMMANDS.flatMap(({ about, flags }) => [...about, ...flags.map(({ text }) => text)]).flatMap(
      (text) => text.split(/\. /),
    );
    expect(sentences.filter((sentence) => sentence.split(' ').length > 30)).toEqual([]);
  });

  it('breaks no command to copy between two lines', () => {
    expect(pages.join('\n')).toContain('zk-lock graph --dot | dot -Tsvg > waits.svg\n');
  });

  it('names no exit code that the command does not have', () => {
    const codesOf = (name: string): string[] =>
      COMMANDS.find((one) => one.name === name)!.exitTexts.map(([code]) => code);
    for (const name of ['ls', 'show', 'watch', 'history']) expect(codesOf(name)).not.toContain('1');
    for (const name of ['graph', 'doctor', 'check', 'break', 'drain', 'clear']) expect(codesOf(name)).toContain('1');
    const stepping = COMMANDS.filter(({ group }) => group === 'Step in').map((command) => commandHelp(command));
    for (const page of stepping) expect(page).not.toMatch(/nothing was found|findings|check/);
  });

  it('names every command, every option and every exit code', () => {
    for (const { name, summary } of COMMANDS) expect(pages[0]).toMatch(new RegExp(`^  ${name}\\b.*${summary}$`, 'm'));
    for (const [index, { flags, exitTexts }] of COMMANDS.entries()) {
      for (const flag of flags) expect(pages[index + 1]).toContain(`  --${flag.name}`);
      for (const [code] of exitTexts) expect(pages[index + 1]).toMatch(new RegExp(`^  ${code} `, 'm'));
    }
  });
});
