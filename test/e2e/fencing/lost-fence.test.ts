import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { type CanActivate, Controller, Get, Put, SetMetadata, UseGuards } from '@nestjs/common';
import { FencingModule } from '../../../lib/fencing/http/fencing.module.js';
import { MemoryFencingMarks } from '../../../lib/fencing/http/fencing-options.js';
import { RequireFence, WithoutFence } from '../../../lib/fencing/http/fence.decorators.js';
import { start } from './support/start.js';

type Method = (...args: unknown[]) => unknown;

/** As they are written everywhere: what stood on the method stays behind. */
function Timed(): MethodDecorator {
  return (_target, _name, descriptor: PropertyDescriptor) => {
    const timed = descriptor.value as Method;
    descriptor.value = function (this: unknown, ...args: unknown[]): unknown {
      return timed.apply(this, args);
    };
  };
}

/** Carries all over, but knows better who guards. */
function OnlyGuardedBy(guard: new () => CanActivate): MethodDecorator {
  return (target, name, descriptor) => {
    const keys = Reflect.getMetadataKeys(descriptor.value as object) as unknown[];
    class Probe {}
    UseGuards(guard)(Probe);
    const [guards] = (Reflect.getMetadataKeys(Probe) as unknown[]).filter((key) => keys.includes(key));
    SetMetadata(guards, [guard])(target, name, descriptor);
  };
}

class Everybody implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller('fenced')
class Fenced {
  @Put(':id')
  @RequireFence('/locks/:id')
  save(): string {
    return 'saved';
  }
}

const boot = (controller: new () => object): Promise<void> =>
  start([controller], [FencingModule.forRoot({ marks: new MemoryFencingMarks() })]);

describe('an application', () => {
  it('does not start where its fence was lost under a decorator that puts another method in its place', async () => {
    @Controller('documents')
    class Documents {
      @Put(':id')
      @Timed()
      @RequireFence('/locks/:id')
      save(): string {
        return 'saved';
      }
    }
    await expect(boot(Documents)).rejects.toThrow(
      "@RequireFence('/locks/:id') on Documents.save is lost on the way to the route Documents.save: another decorator",
    );
  });

  it('does not start where its fence was lost, also if the class requires another', async () => {
    @Controller('documents/:tenant')
    @RequireFence('/locks/:tenant')
    class Documents {
      @Put(':id')
      @Timed()
      @RequireFence('/locks/:tenant/:id')
      save(): string {
        return 'saved';
      }
    }
    await expect(boot(Documents)).rejects.toThrow("@RequireFence('/locks/:tenant/:id') on Documents.save is lost");
  });

  it('does not start where its fence was lost by an override, unless that is meant', async () => {
    @Controller('overridden')
    class Overridden extends Fenced {
      @Put(':id')
      override save(): string {
        return 'saved by another';
      }
    }
    @Controller('lifted')
    class Lifted extends Fenced {
      @Get(':id')
      @WithoutFence()
      override save(): string {
        return 'read';
      }
    }
    await expect(boot(Overridden)).rejects.toThrow('on Fenced.save is lost on the way to the route Overridden.save');
    await boot(Lifted);
  });

  it('does not start where the guard of its fence stands alone', async () => {
    @Controller('documents')
    class Documents {
      @Put(':id')
      @OnlyGuardedBy(Everybody)
      @RequireFence('/locks/:id')
      save(): string {
        return 'saved';
      }
    }
    await expect(boot(Documents)).rejects.toThrow(
      "@RequireFence('/locks/:id') on Documents.save: its guard was taken off Documents.save by another decorator",
    );
  });
});

describe('an application', () => {
  it('starts with its fence above the decorator that replaces the method, beside other guards, and in a class that extends another', async () => {
    @Controller('documents')
    @UseGuards(Everybody)
    class Documents {
      @Put(':id')
      @RequireFence('/locks/:id')
      @Timed()
      @UseGuards(Everybody)
      save(): string {
        return 'saved';
      }
    }
    @Controller('extended')
    class Extended extends Fenced {}
    await boot(Documents);
    await boot(Extended);
  });
});
