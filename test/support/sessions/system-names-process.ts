import { processGate } from '../../../lib/session/wire/name-resolver.js';
import { startNameServer } from './name-server.js';

/** What the name servers of a system say: names that end in one of these are known or absent; they are silent for all others. */
export interface NameServerRules {
  known?: string[];
  absent?: string[];
}

export interface SystemNamesOutcome {
  /** The addresses, or why there are none. */
  told: string;
  /** When the process had nothing left to do. */
  doneAt: number;
}

/** Looks for a name for 3 s as a session does, with the name server of this system, and ends by itself. */
const [host = '', address = '', rules = '{}'] = process.argv.slice(2);
const { known = [], absent = [] } = JSON.parse(rules) as NameServerRules;
const endsIn = (name: string, ends: string[]): boolean => ends.some((end) => name.endsWith(end));
// Like a firewall, it stays there and silent while the process ends: a closed port would be an answer.
await startNameServer((name) => (endsIn(name, known) ? '127.0.0.1' : endsIn(name, absent) ? 'absent' : 'silent'), {
  address,
  port: 53,
});
const asker = new AbortController();
const timer = setTimeout(() => asker.abort(new Error('given up')), 3_000);
const told = await processGate.resolve(host, asker.signal).then(
  (addresses) => [...new Set(addresses)].join(' '),
  (error: Error) => error.message,
);
clearTimeout(timer);
const outcome: SystemNamesOutcome = { told, doneAt: Date.now() };
process.stdout.write(JSON.stringify(outcome));
