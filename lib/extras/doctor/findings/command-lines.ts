/** A key, as a command names it: the same key of another namespace is another lock. */
export interface NamedKey {
  readonly key: string;
  readonly namespace: string;
}

/** The commands that people paste into a shell. */
export class CommandLines {
  readonly #command: string;
  readonly #options: string;

  /** @param options what each of them says of the connection, as words of the command line: `['--connect', 'zk1:2181']` */
  constructor(options: readonly string[] = []) {
    this.#command = commandWith(options);
    this.#options = shellWords(options);
  }

  /** The command that breaks the lock of the holder with this token. */
  break(named: NamedKey, token: bigint, reason: string): string {
    return `${this.#command} break ${this.#operand(named)} --token ${token} --reason ${quoted(reason)}`;
  }

  /** The command that ends all waits for a key. */
  drain(named: NamedKey, reason: string): string {
    return `${this.#command} drain ${this.#operand(named)} --reason ${quoted(reason)}`;
  }

  /** The command that opens a key which a holder that vanished has left closed. */
  clear(named: NamedKey, token: bigint, reason: string): string {
    return `${this.#command} clear ${this.#operand(named)} --token ${token} --reason ${quoted(reason)}`;
  }

  #operand({ key, namespace }: NamedKey): string {
    const options = namespace === '' ? [] : [`--namespace ${quoted(namespace)}`];
    return [quoted(key), ...options, this.#options].filter((part) => part !== '').join(' ');
  }
}

/** The program, as it is found wherever npm is. A bare `npx zk-lock` could be a package of somebody else's. */
export function commandWith(options: readonly string[]): string {
  // The package for Kerberos is none of those that come with this one.
  const more = options.some((word) => word.startsWith('--kerberos')) ? ' -p kerberos' : '';
  return `npx -p nestjs-zookeeper-lock${more} zk-lock`;
}

/** Words of a command line, as a POSIX shell reads them. Names of options need no quotes. */
export function shellWords(words: readonly string[]): string {
  return words.map((word) => (/^--[a-z-]+$/.test(word) ? word : quoted(word))).join(' ');
}

/** A text as one word of a POSIX shell, whatever it has in it. */
export function quoted(text: string): string {
  // Nothing has a meaning between single quotes but the quote that ends them.
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
