import { describe, expect, it } from '@jest/globals';
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
import { graphql, GraphQLSchema } from 'graphql';
import { currentLock, Fence, injected, Locked } from '../../../lib/index.js';
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
