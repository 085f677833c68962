import { describe, expect, it } from '@jest/globals';
import { NameServerQuery, type DnsClient } from '../../../../lib/session/wire/name-server-query.js';

type Answers = Readonly<Record<string, { ipv4?: readonly string[]; ipv6?: readonly string[]; code?: string }>>;

/** Knows these names; others do not exist. */
class FakeDns implements DnsClient {
  readonly asked: string[] = [];
  cancelled = false;

  constructor(private readonly answers: Answers) {}

  resolve4(...[name, done]: Parameters<DnsClient['resolve4']>): void {
    this.asked.push(name);
    this.#answer(this.answers[name]?.ipv4, this.answers[name]?.code, done);
  }

  resolve6(...[name, done]: Parameters<DnsClient['resolve6']>): void {
    this.#answer(this.answers[name]?.ipv6, this.answers[name]?.code, done);
  }

  cancel(): void {
    this.cancelled = true;
  }

  #answer(addresses: readonly string[] | undefined, code = 'ENOTFOUND', done: Parameters<DnsClient['resolve4']>[1]) {
    const error = addresses === undefined ? Object.assign(new Error(code), { code }) : null;
    setImmediate(() => done(error, addresses ?? []));
  }
}

function find(host: string, dns: FakeDns, files: { hosts?: string; resolvConf?: string } = {}) {
  const query = new NameServerQuery({ hosts: '', resolvConf: '', ...files }, dns);
  return new Promise<readonly string[]>((resolve) => query.find(host, resolve));
}

const CLUSTER = 'nameserver 10.0.0.53\nsearch prod.svc.cluster.local svc.cluster.local\noptions ndots:5\n';

describe('NameServerQuery', () => {
  it('finds a name of the hosts file without asking anybody', async () => {
    const dns = new FakeDns({});
    const hosts = '127.0.0.1 localhost\n# 10.9.9.9 zk1\n10.0.0.1\tother ZK1 # the first\nfd00::1 zk1\n';

    expect(await find('zk1', dns, { hosts })).toEqual(['10.0.0.1', 'fd00::1']);
    expect(dns.asked).toEqual([]);
  });

  it('tries the search domains first when the name has few dots, as the system does', async () => {
    const answers = { 'zk.dev': { ipv4: ['203.0.113.9'] }, 'zk.dev.svc.cluster.local': { ipv4: ['10.0.0.1'] } };
    const dns = new FakeDns(answers);

    expect(await find('zk.dev', dns, { resolvConf: CLUSTER })).toEqual(['10.0.0.1']);
    expect(dns.asked).toEqual(['zk.dev.prod.svc.cluster.local', 'zk.dev.svc.cluster.local']);
  });

  it('never goes on to another name because the right one could not be asked for', async () => {
    const dns = new FakeDns({
      'zk.dev': { ipv4: ['203.0.113.9'] },
      'zk.dev.prod.svc.cluster.local': { code: 'ETIMEOUT' },
    });

    expect(await find('zk.dev', dns, { resolvConf: CLUSTER })).toEqual([]);
    expect(dns.asked).toEqual(['zk.dev.prod.svc.cluster.local']);
  });

  it('asks for a name with dots as it is, and then with the search domains', async () => {
    const dns = new FakeDns({ 'zk.example.com.corp': { ipv4: ['10.0.0.1'] } });

    expect(await find('zk.example.com', dns, { resolvConf: 'search corp\n' })).toEqual(['10.0.0.1']);
    expect(dns.asked).toEqual(['zk.example.com', 'zk.example.com.corp']);
  });

  it('asks for nothing but the name when it ends in a dot', async () => {
    const dns = new FakeDns({});

    expect(await find('zk.dev.', dns, { resolvConf: CLUSTER })).toEqual([]);
    expect(dns.asked).toEqual(['zk.dev']);
  });

  it('takes IPv6 where there is no IPv4', async () => {
    expect(await find('zk1', new FakeDns({ zk1: { ipv6: ['fd00::1'] } }))).toEqual(['fd00::1']);
  });

  it('leaves no question open behind the answer: name servers that drop those for IPv6 would keep the process alive', async () => {
    class DeafToIPv6 extends FakeDns {
      override resolve6(): void {
        // Dropped.
      }
    }
    const dns = new DeafToIPv6({ zk1: { ipv4: ['10.0.0.1'] } });

    expect(await find('zk1', dns)).toEqual(['10.0.0.1']);
    expect(dns.cancelled).toBe(true);
  });

  it('says nothing after it was cancelled', async () => {
    const told: (readonly string[])[] = [];
    const dns = new FakeDns({ zk1: { ipv4: ['10.0.0.1'] } });
    const query = new NameServerQuery({ hosts: '10.0.0.2 zk2', resolvConf: '' }, dns);
    query.find('zk1', (addresses) => told.push(addresses));
    query.find('zk2', (addresses) => told.push(addresses));
    query.cancel();
    await find('zk1', new FakeDns({ zk1: { ipv4: ['10.0.0.1'] } }));

    expect(told).toEqual([]);
    expect(dns.cancelled).toBe(true);
  });
});
