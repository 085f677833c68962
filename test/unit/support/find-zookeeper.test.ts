import { describe, expect, it } from '@jest/globals';
import { waysToZooKeeper } from '../../support/find-zookeeper/find.js';
import { firstThatWorks } from '../../support/find-zookeeper/first-that-works.js';
import { serversOf } from '../../support/find-zookeeper/given.js';

const works = (name: string) => ({ name, start: async () => name });
const fails = (name: string, reason: string) => ({ name, start: () => Promise.reject<string>(new Error(reason)) });

describe('the search for a ZooKeeper', () => {
  it('tries the given ensemble, then Docker, then the jars', () => {
    const names = waysToZooKeeper('zk1:2181', () => undefined, false).map((way) => way.name);

    expect(names).toEqual([
      'ZOOKEEPER_CONNECT=zk1:2181',
      'Docker, through testcontainers',
      "a server from ZooKeeper's jars",
    ]);
  });

  it('starts with Docker when no ensemble is given', () => {
    expect(waysToZooKeeper('', () => undefined, false)[0]?.name).toBe('Docker, through testcontainers');
  });

  it('prefers jars that somebody has named to Docker, not to an ensemble', () => {
    const names = waysToZooKeeper('zk1:2181', () => undefined, true).map((way) => way.name);

    expect(names).toEqual([
      'ZOOKEEPER_CONNECT=zk1:2181',
      "a server from ZooKeeper's jars",
      'Docker, through testcontainers',
    ]);
  });

  it('takes the first way that works and leaves the others alone', async () => {
    const lines: string[] = [];

    expect(
      await firstThatWorks([works('one'), fails('two', 'never asked')], 'advice', (line) => lines.push(line)),
    ).toBe('one');
    expect(lines).toEqual(['trying one']);
  });

  it('names a way that does not work, with the reason, and tries the next', async () => {
    const lines: string[] = [];

    expect(await firstThatWorks([fails('one', 'no daemon'), works('two')], 'advice', (line) => lines.push(line))).toBe(
      'two',
    );
    expect(lines).toEqual(['trying one', 'one does not work: no daemon', 'trying two']);
  });

  it('fails with what to do and all the reasons when no way works', async () => {
    const search = firstThatWorks([fails('one', 'no daemon'), fails('two', 'no java')], 'Do this.', () => undefined);

    await expect(search).rejects.toThrow('Do this.\nWhat was tried:\n  one: no daemon\n  two: no java');
  });

  it('reads host and port of every server of a connect string, the default port and IPv6 included', () => {
    expect(serversOf('zk1:2182,zk2,[::1]:2183/some/root')).toEqual([
      { host: 'zk1', port: 2182 },
      { host: 'zk2', port: 2181 },
      { host: '::1', port: 2183 },
    ]);
  });
});
