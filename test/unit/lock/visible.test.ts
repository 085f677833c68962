import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nameText } from '../../../lib/extras/cli/contenders.js';
import { html } from '../../../lib/extras/dashboard/html.js';
import { Audit } from '../../../lib/extras/doctor/audit.js';
import { ticketOfAnotherLock } from '../../../lib/fencing/refusals.js';
import { LockConfigurationError, LockTimeoutError } from '../../../lib/lock/errors.js';
import { visible } from '../../../lib/lock/visible.js';
import { describeAlert } from '../../../lib/nest/lock-alerts.js';

/** One of each kind: what ends a line, commands a terminal, turns the direction of writing, or takes no room. */
const UNSEEN = [
  ...['\u0000', '\n', '\r', '\u001b', '\u007f', '\u0085', '\u009b', '\u2028', '\u2029'],
  ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'],
  ...['\u00ad', '\u034f', '\u115f', '\u180e', '\u200b', '\u2060', '\u2064', '\u206f', '\u3164', '\ufeff', '\uffa0'],
  '\u{e0041}',
];

/** Each place where a text of others is shown. */
const PLACES: readonly (readonly [place: string, show: (text: string) => string | Promise<string>])[] = [
  ['the command line', (text) => nameText({ label: text })!],
  ['a page', (text) => html`${text}`.text],
  ['an error', (text) => new LockTimeoutError(text).details],
  ['an error of a store', (text) => ticketOfAnotherLock(text, '/a', '/b').details],
  [
    'a warning in the log',
    (text) => describeAlert({ alert: 'failures', key: text, label: text, failures: 10 } as never),
  ],
  ['an audit line', auditLine],
];

describe('A text of others', () => {
  it.each(PLACES)('hides nothing in %s, and is shown there as everywhere', async (_place, show) => {
    const text = UNSEEN.map((one) => `/locks${one}gnp`).join('');
    const shown = await show(text);
    for (const one of UNSEEN) expect(shown).not.toContain(one);
    expect(shown).toContain(visible(text));
  });

  it('shows what nobody sees by its number', () => {
    expect(visible('/locks/\u202egnp\r\n\u001b[2J\u{e0041}')).toBe(
      '/locks/\\u202egnp\\u000d\\u000a\\u001b[2J\\u{e0041}',
    );
  });

  it('stays as it is where people write it, in any language', () => {
    const words = 'مفتاح, می\u200cخواهم, क्\u200dष, ключ, 鍵, 葛\u{e0100}, e\u0301, 🔑, ❤\ufe0f\u200d🔥, straße, "42"\\';
    expect(visible(words)).toBe(words);
  });

  it('stays as it is once it is visible', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expect(visible(visible(text))).toBe(visible(text))));
  });

  it('keeps a key that has such characters out of the message of an error', () => {
    const key = '/tenants\u200b/acme\u2028';
    for (const text of [key, JSON.stringify(key), visible(key)]) {
      const { message, details } = new LockConfigurationError(`The lock ${text} is held`, key);
      expect(message).toBe('The lock is misconfigured or misused: the details are in the log');
      expect(details).toBe(`The lock ${text.startsWith('"') ? visible(JSON.stringify(key)) : visible(key)} is held`);
    }
  });
});

async function auditLine(text: string): Promise<string> {
  const lines: string[] = [];
  const audit = new Audit({ log: (line) => void lines.push(line), warn: (line) => void lines.push(line) });
  const refused = audit.of(
    `Drain of ${text}`,
    { by: text, reason: text },
    () => Promise.reject(new Error(text)),
    () => Promise.reject(new Error('It was refused')) as never,
  );
  await refused.catch(() => undefined);
  return lines.join(' ');
}
