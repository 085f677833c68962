/** How the commands of the doctor are called in a shell. */
const COMMAND = 'npx -p nestjs-zookeeper-lock zk-lock';

/** The command that breaks the lock of the holder with this token. */
export function breakLine(key: string, token: bigint, reason: string): string {
  return `${COMMAND} break ${quoted(key)} --token ${token} --reason ${quoted(reason)}`;
}

/** The command that ends all waits for a key. */
export function drainLine(key: string, reason: string): string {
  return `${COMMAND} drain ${quoted(key)} --reason ${quoted(reason)}`;
}

/** The command that opens a key which a holder that vanished has left closed. */
export function clearLine(key: string, token: bigint, reason: string): string {
  return `${COMMAND} clear ${quoted(key)} --token ${token} --reason ${quoted(reason)}`;
}

/** A text as one word of a POSIX shell, whatever it has in it. */
export function quoted(text: string): string {
  // Nothing has a meaning between single quotes but the quote that ends them.
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
