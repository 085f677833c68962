/** How the commands of the doctor are called in a shell. */
const COMMAND = 'npx -p nestjs-zookeeper-lock zk-lock';

/** A key, as a command names it: the same key of another namespace is another lock. */
export interface NamedKey {
  readonly key: string;
  readonly namespace: string;
}

/** The command that breaks the lock of the holder with this token. */
export function breakLine(named: NamedKey, token: bigint, reason: string): string {
  return `${COMMAND} break ${operand(named)} --token ${token} --reason ${quoted(reason)}`;
}

/** The command that ends all waits for a key. */
export function drainLine(named: NamedKey, reason: string): string {
  return `${COMMAND} drain ${operand(named)} --reason ${quoted(reason)}`;
}

/** The command that opens a key which a holder that vanished has left closed. */
export function clearLine(named: NamedKey, token: bigint, reason: string): string {
  return `${COMMAND} clear ${operand(named)} --token ${token} --reason ${quoted(reason)}`;
}

function operand({ key, namespace }: NamedKey): string {
  return namespace === '' ? quoted(key) : `${quoted(key)} --namespace ${quoted(namespace)}`;
}

/** A text as one word of a POSIX shell, whatever it has in it. */
export function quoted(text: string): string {
  // Nothing has a meaning between single quotes but the quote that ends them.
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
