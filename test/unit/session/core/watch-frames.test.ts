import { describe, expect, it } from '@jest/globals';
import { watchFrames, WatchRegistry } from '../../../../lib/session/core/watch-registry.js';
import { FrameOutput } from '../../../../lib/session/wire/frame-output.js';

const watcher = { onWatchEvent: () => undefined };
const KINDS = ['data', 'exists', 'children'] as const;
const MEGABYTE = 1_000_000;

function registryOf(count: number, name: (index: number) => string): WatchRegistry {
  const registry = new WatchRegistry();
  for (let index = 0; index < count; index += 1) registry.add(KINDS[index % 3]!, name(index), watcher);
  return registry;
}

/** How large each frame is on the wire. */
function frameBytes(registry: WatchRegistry, chroot: string): number[] {
  const sizes: number[] = [];
  for (const frame of watchFrames(registry, 7n, chroot)) {
    const sink = {
      bytes: 0,
      writableLength: 0,
      destroyed: false,
      write: (chunk: Buffer) => (sink.bytes += chunk.length),
    };
    const output = new FrameOutput(sink, []);
    expect(output.send(-8, frame, '')).toBe(true);
    output.flush();
    sizes.push(sink.bytes);
  }
  return sizes;
}

describe('The frames that set watches again on a new connection', () => {
  it('stay below the megabyte at which a server hangs up, with 12 000 watches on long paths', () => {
    const sizes = frameBytes(
      registryOf(12_000, (index) => `/locks/${'x'.repeat(240)}/${index}`),
      '/chroot',
    );
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThan(MEGABYTE);
  });

  it('stay below it for paths of three bytes a character, for very short ones, and for single very long ones', () => {
    const cjk = frameBytes(
      registryOf(2_000, (index) => `/${'鎖'.repeat(200)}${index}`),
      '',
    );
    const short = frameBytes(
      registryOf(100_000, (index) => `/${index.toString(36)}`),
      '',
    );
    const long = frameBytes(
      registryOf(5, (index) => `/${'x'.repeat(300_000)}${index}`),
      '',
    );
    for (const size of [...cjk, ...short, ...long]) expect(size).toBeLessThan(MEGABYTE);
  });

  it('name every path once, of its kind, with the chroot and the transaction to look back to', () => {
    const registry = registryOf(12_000, (index) => `/locks/${'x'.repeat(200)}/${index}`);
    const frames = [...watchFrames(registry, 7n, '/ch')];
    for (const kind of KINDS) {
      const named = frames.flatMap((frame) => frame[kind]);
      expect(named).toEqual([...registry.paths(kind)].map((path) => `/ch${path}`));
    }
    expect(new Set(frames.map(({ relativeZxid }) => relativeZxid))).toEqual(new Set([7n]));
  });

  it('are none when there is nothing to watch', () => {
    expect([...watchFrames(new WatchRegistry(), 7n, '')]).toEqual([]);
  });

  it('name the root of a chroot by the chroot itself', () => {
    const registry = new WatchRegistry();
    registry.add('children', '/', watcher);
    expect([...watchFrames(registry, 0n, '/ch')][0]?.children).toEqual(['/ch']);
    expect([...watchFrames(registry, 0n, '')][0]?.children).toEqual(['/']);
  });
});
