import { describe, expect, it } from '@jest/globals';
import { chainOf, NamedNotes, methodsOf, prototypesOf } from '../../../lib/nest/metadata.js';

class Base {
  static make(): Base {
    return new Base();
  }

  kept(): string {
    return 'base';
  }

  overridden(): string {
    return 'base';
  }

  hidden(): string {
    return 'base';
  }
}

class Derived extends Base {
  readonly field = () => 'of the instance';

  override overridden(): string {
    return 'derived';
  }

  get lazy(): () => string {
    throw new Error('A getter was called');
  }
}

// A getter that stands in front of a method: TypeScript lets no class declare it, JavaScript does.
Object.defineProperty(Derived.prototype, 'hidden', {
  get: () => {
    throw new Error('A getter was called');
  },
});

describe('the way through the classes of an application', () => {
  it('goes from an instance to its class and those that it extends, and not to what every object has', () => {
    const instance = new Derived();
    expect([...prototypesOf(instance)]).toEqual([Derived.prototype, Base.prototype]);
    expect([...chainOf(instance)]).toEqual([instance, Derived.prototype, Base.prototype]);
    expect([...prototypesOf(Object.create(null) as object)]).toEqual([]);
  });

  it('finds each method where it is nearest, and calls no getter', () => {
    const methods = methodsOf(Derived.prototype);
    expect([...methods.keys()].sort()).toEqual(['kept', 'overridden']);
    const said = [...methods].map(([name, method]) => [name, (method as () => string)()]);
    expect(Object.fromEntries(said)).toEqual({ kept: 'base', overridden: 'derived' });
  });
});

describe('notes on methods', () => {
  it('are found by the class that declares the method, and by those that extend it where they are asked for', () => {
    const notes = new NamedNotes<string>();
    notes.set(Base.prototype, 'kept', 'of the base');
    notes.set(Base.prototype, 'overridden', 'of the base');
    notes.set(Derived.prototype, 'overridden', 'of the derived');

    expect([...notes.of(Derived.prototype)]).toEqual([['overridden', 'of the derived']]);
    expect(notes.nearest(Derived.prototype, 'overridden')).toBe('of the derived');
    expect(notes.nearest(Derived.prototype, 'kept')).toBe('of the base');
    expect(notes.nearest(Base.prototype, 'overridden')).toBe('of the base');
    expect(notes.nearest(Derived.prototype, 'hidden')).toBeUndefined();
  });
});
