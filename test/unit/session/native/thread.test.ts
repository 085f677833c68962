import { afterEach, describe, expect, it } from '@jest/globals';
import { RecordingClient, scriptedPackage } from '../../../support/native/scripted-package.js';
import { eventually } from '../../../support/process/eventually.js';

/** What the thread uses of the package, connected at once. */
const PACKAGE = `
const { EventEmitter } = require('node:events');
module.exports = class extends EventEmitter {
  state = 3;
  client_id = '1';
  client_password = '00'.repeat(16);
  timeout = 4000;
  constructor(config) {
    super();
    this.config = config;
    this.native = this;
  }
  init() { setImmediate(() => this.emit('connect', this)); }
  set_servers() { return 0; }
  close() { this.state = 0; }
  a_sync(path) { throw new Error('no sync of ' + path); }
  a_exists(path, watch, done) {
    if (path === '/config') this.emit('created', this, JSON.stringify(this.config));
    if (path === '/end') process.exit(0);
    if (path !== '/refused') done(0, 'ok', path);
    return path === '/refused' ? -8 : 0;
  }
};`;

describe('The thread of the package', () => {
  const clients: RecordingClient[] = [];
  afterEach(() => {
    for (const { client } of clients.splice(0)) client.leave();
  });

  async function open(): Promise<RecordingClient> {
    const recording = new RecordingClient(scriptedPackage(PACKAGE));
    clients.push(recording);
    await eventually('it was told something', () => recording.told.length > 0);
    return recording;
  }

  async function untilTold({ told }: RecordingClient, count: number): Promise<readonly string[]> {
    await eventually(`${count} were told`, () => told.length >= count);
    return told;
  }

  it('gives each client one server, by its address, and the most segments that an answer may have', async () => {
    const one = await open();

    one.client.call({ number: 1, method: 'a_exists', args: ['/config', false] });

    const [up, config] = await untilTold(one, 2);
    expect([up, JSON.parse(config!.replace('created ', ''))]).toEqual([
      'up',
      expect.objectContaining({ connect: '127.0.0.1:1', response_counter_limit: 2 ** 31 - 1 }),
    ]);
  });

  it('answers a call that the package refuses, which calls nobody back then', async () => {
    const one = await open();

    one.client.call({ number: 1, method: 'a_exists', args: ['/refused', false] });
    one.client.call({ number: 2, method: 'a_exists', args: ['/taken', false] });

    expect(await untilTold(one, 3)).toEqual(['up', 'answer 1: -8', 'answer 2: 0 /taken']);
  });

  it('ends a connection in which a call throws, and no other', async () => {
    const [one, other] = [await open(), await open()];

    one.client.call({ number: 1, method: 'a_sync', args: ['/'] });
    await untilTold(one, 2);
    other.client.call({ number: 1, method: 'a_exists', args: ['/', false] });

    expect(await untilTold(other, 2)).toEqual(['up', 'answer 1: 0 /']);
    expect(one.causes).toEqual([expect.objectContaining({ message: 'Error: no sync of /' })]);
  });

  it('is told to all where it ends by itself, and the next client has another', async () => {
    const [one, other] = [await open(), await open()];

    one.client.call({ number: 1, method: 'a_exists', args: ['/end', false] });

    expect([await untilTold(one, 2), await untilTold(other, 2)]).toEqual([
      ['up', 'down'],
      ['up', 'down'],
    ]);
    expect((await open()).told).toEqual(['up']);
  });
});
