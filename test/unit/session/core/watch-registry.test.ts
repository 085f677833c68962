import { describe, expect, it } from '@jest/globals';
import { WatchRegistry } from '../../../../lib/session/core/watch-registry.js';
import type { WatchEvent, Watcher } from '../../../../lib/session/requests.js';

class Recorder implements Watcher {
  readonly events: string[] = [];

  onWatchEvent({ type, path }: WatchEvent): void {
    this.events.push(`${type} ${path}`);
  }
}

function recorders<const N extends readonly string[]>(...names: N): Record<N[number], Recorder> {
  return Object.fromEntries(names.map((name) => [name, new Recorder()])) as Record<N[number], Recorder>;
}

describe('Of an event', () => {
  it('a one-shot watch is told once', () => {
    const registry = new WatchRegistry();
    const watcher = new Recorder();
    registry.add('data', '/a', watcher);
    registry.fire({ type: 'changed', path: '/a' });
    registry.fire({ type: 'deleted', path: '/a' });
    expect(watcher.events).toEqual(['changed /a']);
  });

  it('each kind of watch is told of what concerns it, and used up by nothing else', () => {
    const registry = new WatchRegistry();
    const { data, exists, children } = recorders('data', 'exists', 'children');
    registry.add('data', '/a', data);
    registry.add('exists', '/a', exists);
    registry.add('children', '/a', children);
    registry.fire({ type: 'children', path: '/a' });
    expect([data.events, exists.events, children.events]).toEqual([[], [], ['children /a']]);
    registry.add('children', '/a', children);
    registry.fire({ type: 'created', path: '/a' });
    expect(exists.events).toEqual(['created /a']);
    registry.fire({ type: 'deleted', path: '/a' });
    expect(children.events).toEqual(['children /a', 'deleted /a']);
  });

  it('a watcher that asked by two ways is told once', () => {
    const registry = new WatchRegistry();
    const watcher = new Recorder();
    registry.add('data', '/a', watcher);
    registry.add('children', '/a', watcher);
    registry.fire({ type: 'deleted', path: '/a' });
    expect(watcher.events).toEqual(['deleted /a']);
  });

  it('a watcher may set another watch on the same path while it is told', () => {
    const registry = new WatchRegistry();
    let told = 0;
    const watcher: Watcher = {
      onWatchEvent: () => {
        told += 1;
        registry.add('data', '/a', watcher);
      },
    };
    registry.add('data', '/a', watcher);
    registry.fire({ type: 'changed', path: '/a' });
    expect(told).toBe(1);
    registry.fire({ type: 'changed', path: '/a' });
    expect(told).toBe(2);
  });
});

describe('Of a loss', () => {
  it('everybody is told once at the end of the session, and nothing stays behind', () => {
    const registry = new WatchRegistry();
    const { data, exists, children } = recorders('data', 'exists', 'children');
    registry.add('data', '/d', data);
    registry.add('exists', '/e', exists);
    registry.add('children', '/c', children);
    registry.tellLost();
    registry.tellLost();
    expect([data, exists, children].map(({ events }) => events)).toEqual([['lost /d'], ['lost /e'], ['lost /c']]);
    expect((['data', 'exists', 'children'] as const).flatMap((kind) => [...registry.paths(kind)])).toEqual([]);
  });
});

describe('The end of a watch that is taken back', () => {
  it('leaves the watch at the server while somebody else here wants it', () => {
    const registry = new WatchRegistry();
    const { one, two } = recorders('one', 'two');
    registry.add('data', '/a', one);
    registry.add('data', '/a', two);
    expect(registry.remove('/a', one)).toEqual([]);
    registry.fire({ type: 'changed', path: '/a' });
    expect([one.events, two.events]).toEqual([[], ['changed /a']]);
  });

  it('names what the server need no longer watch', () => {
    const registry = new WatchRegistry();
    const watcher = new Recorder();
    registry.add('data', '/a', watcher);
    registry.add('children', '/a', watcher);
    expect(registry.remove('/a', watcher).sort()).toEqual(['children', 'data']);
    expect(registry.remove('/a', watcher)).toEqual([]);
  });

  it('knows that the server keeps data and exists watches in one table', () => {
    const registry = new WatchRegistry();
    const { data, exists } = recorders('data', 'exists');
    registry.add('data', '/a', data);
    registry.add('exists', '/a', exists);
    expect(registry.remove('/a', data)).toEqual([]);
    expect(registry.wants('/a', 'data')).toBe(true);
    expect(registry.remove('/a', exists)).toEqual(['data']);
    expect(registry.wants('/a', 'data')).toBe(false);
  });
});
