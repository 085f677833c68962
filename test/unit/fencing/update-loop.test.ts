import { describe, expect, it } from '@jest/globals';
import { readMakeWrite, type Updatable } from '../../../lib/fencing/update-loop.js';

/** A resource in memory that somebody else writes between the read and the write, the first few times. */
function disturbed(times: number): Updatable<number, string> & { content: string; version: number } {
  const resource = {
    name: '/a',
    content: 'start',
    version: 0,
    read: async () => ({ content: Buffer.from(resource.content), seen: resource.version }),
    write: async (content: string | Uint8Array, seen: number) => {
      if ((times -= 1) >= 0) resource.version += 1;
      if (seen !== resource.version) return undefined;
      resource.content = content.toString();
      return `written over ${seen}`;
    },
  };
  return resource;
}

describe('an update', () => {
  it('makes the content again from what another wrote in between', async () => {
    const resource = disturbed(3);
    let made = 0;
    const make = (current: Buffer | undefined): string => `${current?.toString()} ${(made += 1)}`;
    expect(await readMakeWrite(resource, make, Error)).toBe('written over 3');
    expect(resource.content).toBe('start 4');
  });

  it('gives up where something writes each time, with the error of its store', async () => {
    let made = 0;
    const given = readMakeWrite(disturbed(Infinity), () => `${(made += 1)}`, RangeError);
    await expect(given).rejects.toThrow(RangeError);
    await expect(given).rejects.toThrow('/a was changed under the same token during each of 1000 attempts');
    expect(made).toBe(1_000);
  });

  it('writes nothing when the content cannot be made', async () => {
    const resource = disturbed(0);
    const failing = readMakeWrite(resource, () => Promise.reject(new Error('cannot be made')), Error);
    await expect(failing).rejects.toThrow('cannot be made');
    expect(resource.content).toBe('start');
  });
});
