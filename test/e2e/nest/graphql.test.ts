import { describe, expect, it } from '@jest/globals';
import { UseFilters } from '@nestjs/common';
import {
  AbstractGraphQLDriver,
  Args,
  Field,
  type GqlModuleOptions,
  GraphQLModule,
  Mutation,
  ObjectType,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { graphql, type GraphQLError, GraphQLSchema } from 'graphql';
import { currentLock, Fence, injected, Locked, LockExceptionFilter } from '../../../lib/index.js';
import { startApplication } from '../support/application.js';

/** A GraphQL server without the server. */
class SchemaOnly extends AbstractGraphQLDriver {
  schema: GraphQLSchema | undefined;

  async start(options: GqlModuleOptions): Promise<void> {
    this.schema = options.schema;
  }

  async stop(): Promise<void> {
    this.schema = undefined;
  }
}

@ObjectType()
class Document {
  @Field(() => String)
  id!: string;

  @Field(() => String)
  key!: string;

  @Field(() => Boolean)
  hasToken!: boolean;
}

@Resolver(() => Document)
class DocumentsResolver {
  @Query(() => String)
  ping(): string {
    return 'pong';
  }

  @Query(() => String)
  async plain(@Args('kind') kind: 'busy' | 'misused'): Promise<string> {
    return this[kind]();
  }

  @Query(() => String)
  @UseFilters(LockExceptionFilter)
  async fails(@Args('kind') kind: 'busy' | 'misused'): Promise<string> {
    return this[kind]();
  }

  @Locked('/locks/held', { waitMs: 0 })
  async busy(): Promise<string> {
    return 'was free';
  }

  @Locked('/locks/misused', { mode: 'read' })
  async misused(): Promise<string> {
    return this.writes();
  }

  @Locked('/locks/misused')
  async writes(): Promise<string> {
    return 'wrote';
  }

  @Mutation(() => Document)
  @Locked('/locks/:id')
  async edit(@Args('id') id: string, @Fence() token: bigint = injected()): Promise<Partial<Document>> {
    return { id, key: String(currentLock()?.key), hasToken: token === currentLock()?.fencingToken };
  }

  @Locked('/locks/fields/:field')
  @ResolveField(() => String)
  async guarded(@Args('field') field: string): Promise<string> {
    return `${field} ${currentLock()?.key}`;
  }
}

describe('a lock error out of a GraphQL resolver', () => {
  it('says what it was, and nothing of a misconfiguration', async () => {
    const driver = GraphQLModule.forRoot({ driver: SchemaOnly, autoSchemaFile: true });
    await using application = await startApplication({ imports: [driver], providers: [DocumentsResolver] });
    const { schema } = application.app.get<GraphQLModule<SchemaOnly>>(GraphQLModule).graphQlAdapter;
    const errorOf = async (source: string): Promise<GraphQLError | undefined> =>
      (await graphql({ schema: schema as GraphQLSchema, source })).errors?.[0];
    const textOf = async (source: string): Promise<string | undefined> => (await errorOf(source))?.message;
    await using held = await application.locks.acquire('/locks/held');

    expect(await textOf('{ fails(kind: "busy") }')).toMatch(/^The lock is busy/);
    expect(held.isHeld()).toBe(true);
    expect(await textOf('{ fails(kind: "misused") }')).toBe('Internal Server Error');

    // What clients tell errors by: the servers of GraphQL pass on what stands there.
    for (const query of ['plain', 'fails']) {
      expect((await errorOf(`{ ${query}(kind: "busy") }`))?.toJSON()).toMatchObject({
        extensions: { code: 'LOCK_TIMEOUT' },
      });
    }
    expect((await errorOf('{ plain(kind: "misused") }'))?.extensions).toEqual({ code: 'LOCK_CONFIGURATION' });
  });
});

describe('@Locked on a GraphQL resolver', () => {
  it('locks mutations and resolved fields', async () => {
    const driver = GraphQLModule.forRoot({ driver: SchemaOnly, autoSchemaFile: true });
    await using application = await startApplication({ imports: [driver], providers: [DocumentsResolver] });
    const { graphQlAdapter } = application.app.get<GraphQLModule<SchemaOnly>>(GraphQLModule);
    const schema = graphQlAdapter.schema;
    if (schema === undefined) throw new Error('no schema was made');

    const source = 'mutation { edit(id: "a") { id key hasToken guarded(field: "b") } }';
    const { data, errors } = await graphql({ schema, source });

    expect(errors).toBeUndefined();
    expect(data).toEqual({ edit: { id: 'a', key: '/locks/a', hasToken: true, guarded: 'b /locks/fields/b' } });
  });
});
