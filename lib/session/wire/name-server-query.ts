import { NODATA, NOTFOUND, Resolver, TIMEOUT } from 'node:dns';
import { readFileSync } from 'node:fs';

type QueryCallback = (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => void;
/** `dns.Resolver`, as far as it is needed here: it asks name servers without a thread, and can be stopped. */
export interface DnsClient {
  resolve4(name: string, done: QueryCallback): void;
  resolve6(name: string, done: QueryCallback): void;
  cancel(): void;
}

/** The texts of /etc/hosts and /etc/resolv.conf; '' for one that is not there. */
export interface NameFiles {
  readonly hosts: string;
  readonly resolvConf: string;
}

/** Without a thread, since those of the pool may all hang in look-ups, and both files are small. */
export function readNameFiles(): NameFiles {
  return { hosts: textOf('/etc/hosts'), resolvConf: textOf('/etc/resolv.conf') };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not there, or not on this system: nothing is lost but a short cut.
    return '';
  }
}

/**
 * Finds addresses beside the system's look-up, in the system's own order: the hosts file, then name servers with the
 * search domains. The order matters: `zk.dev` is a service in a cluster for one, and a stranger's machine for the other.
 */
export class NameServerQuery {
  readonly #files: NameFiles;
  readonly #client: DnsClient;
  #cancelled = false;

  constructor(files: NameFiles = readNameFiles(), client: DnsClient = new Resolver()) {
    this.#files = files;
    this.#client = client;
  }

  /** Calls back once, with nothing when nothing was found (`wereSilent`: for want of any answer), unless it is cancelled; never before it has returned. */
  find(host: string, done: (addresses: readonly string[], wereSilent: boolean) => void): void {
    const listed = addressesInHosts(this.#files.hosts, host);
    if (listed.length === 0) return this.#ask(fullNames(this.#files.resolvConf, host), done);
    process.nextTick(() => {
      if (!this.#cancelled) done(listed, false);
    });
  }

  cancel(): void {
    this.#cancelled = true;
    this.#client.cancel();
  }

  #ask(names: readonly string[], done: (addresses: readonly string[], wereSilent: boolean) => void): void {
    const [name, ...others] = names;
    if (name === undefined) return done([], false);
    let waiting = 2;
    let certainlyAbsent = true;
    let wereSilent = false;
    let ipv6: readonly string[] = [];
    const answered = (error: NodeJS.ErrnoException | null, ipv4: readonly string[]) => {
      if (this.#cancelled || waiting === 0) return;
      waiting -= 1;
      if (ipv4.length > 0) {
        waiting = 0;
        // A name server that drops the question for IPv6 would keep the process alive until that has timed out.
        this.#client.cancel();
        return done([...ipv4, ...ipv6], false);
      }
      if (error !== null && error.code !== NOTFOUND && error.code !== NODATA) certainlyAbsent = false;
      if (error?.code === TIMEOUT) wereSilent = true;
      // IPv6 is held back until IPv4 has answered: that is what servers listen on.
      if (waiting > 0) return;
      if (ipv6.length > 0) return done(ipv6, false);
      // A name that may exist hides the later ones: whoever took one of those might speak to a stranger.
      if (certainlyAbsent) this.#ask(others, done);
      else done([], wereSilent);
    };
    this.#client.resolve4(name, (error, addresses) => answered(error, error === null ? addresses : []));
    this.#client.resolve6(name, (error, addresses) => {
      if (error === null) ipv6 = addresses;
      answered(error, []);
    });
  }
}

function addressesInHosts(hosts: string, host: string): string[] {
  const wanted = host.toLowerCase();
  return hosts.split('\n').flatMap((line) => {
    const [address, ...names] = words(line.replace(/#.*/, ''));
    return address !== undefined && names.some((name) => name.toLowerCase() === wanted) ? [address] : [];
  });
}

/** The names to ask for, in order: with fewer dots than `ndots`, the search domains come first. */
function fullNames(resolvConf: string, host: string): string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  let domains: string[] = [];
  let leastDots = 1;
  for (const line of resolvConf.split('\n')) {
    const [keyword, ...values] = words(line);
    if (keyword === 'search' || keyword === 'domain') domains = values;
    const ndots = keyword === 'options' ? values.find((value) => value.startsWith('ndots:')) : undefined;
    if (ndots !== undefined) leastDots = Number(ndots.slice('ndots:'.length)) || leastDots;
  }
  const searched = domains.map((domain) => `${host}.${domain}`);
  const dots = host.split('.').length - 1;
  return dots >= leastDots ? [host, ...searched] : [...searched, host];
}

function words(line: string): string[] {
  return line.split(/\s+/).filter((word) => word !== '');
}
