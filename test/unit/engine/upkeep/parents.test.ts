import { describe, expect, it } from '@jest/globals';
import { Parents } from '../../../../lib/engine/upkeep/parents.js';

const made = (parents: Parents, path: string): string[] =>
  parents.missing(path).map((one) => `${one.mode} ${one.path}`);

describe('parents', () => {
  it('are all made for a cold key, the nearest to the root first', () => {
    expect(made(new Parents('container'), '/locks/orders/42')).toEqual([
      'container /locks',
      'container /locks/orders',
      'container /locks/orders/42',
    ]);
  });

  it('of a key with a lock-delay stay: each may be a key itself, whose queue remembers something', () => {
    expect(made(new Parents('persistent'), '/locks/a')).toEqual(['persistent /locks', 'persistent /locks/a']);
  });

  it('that were seen are not made again, for this key and its neighbours', () => {
    const parents = new Parents('container');
    parents.seen('/locks/orders/42');
    expect(made(parents, '/locks/orders/42')).toEqual([]);
    expect(made(parents, '/locks/orders/43')).toEqual(['container /locks/orders/43']);
  });

  it('that vanished are made again, all of the way', () => {
    const parents = new Parents('container');
    parents.seen('/locks/orders/42');
    parents.vanished('/locks/orders/42');
    expect(made(parents, '/locks/orders/42')).toHaveLength(3);
  });

  it('are remembered up to a bound; forgetting costs a create that finds them there', () => {
    const parents = new Parents('container');
    for (let index = 0; index < 30_000; index += 1) parents.seen(`/locks/${index}`);
    const known = Array.from({ length: 30_000 }, (_, index) => made(parents, `/locks/${index}`).length === 0);
    expect(known.filter(Boolean).length).toBeLessThanOrEqual(10_000);
    expect(known.at(-1)).toBe(true);
    expect(made(parents, '/locks/0').at(-1)).toBe('container /locks/0');
  });
});
