import type { Socket } from 'node:net'
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo'
import {
  Args,
  Field,
  GraphQLModule,
  Int,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql'
import {
  byHeader,
  byRoute,
  InflightLimit,
  RateLimit,
  SkipLimits,
  SluiceModule,
  type SluiceModuleOptions,
} from '@sluice/nest'
import type { AppOptions } from './nest-app.ts'

/** Callbacks that resume the waiting handlers of `slow`. */
export const waiting: (() => void)[] = []
/** The connections of queries that arrived at the cap of `queued`. */
export const arrived: Socket[] = []

function arrive({ socket }: { readonly socket: Socket }): string {
  arrived.push(socket)
  return 'all'
}

@ObjectType()
class Row {
  @Field(() => Int)
  id = 0
}

@Resolver(() => Row)
@RateLimit({ name: 'rows', limit: 2, window: '1m' })
@InflightLimit({ name: 'rows', limit: 2 })
class Rows {
  @Query(() => [Row])
  rows(@Args('count', { type: () => Int }) count: number): Row[] {
    return Array.from({ length: count }, (_, id) => ({ id }))
  }

  @ResolveField(() => String)
  name(@Parent() { id }: Row): string {
    return `row ${id}`
  }

  @ResolveField(() => String, { nullable: true })
  @RateLimit({ name: 'details', limit: 3, window: '1m' })
  details(@Parent() { id }: Row): string {
    return `details of ${id}`
  }

  @ResolveField(() => Row)
  next(@Parent() { id }: Row): Row {
    return { id: id + 1 }
  }
}

@Resolver()
class Cats {
  @Query(() => String)
  cat(): string {
    return 'tom'
  }

  @Query(() => String)
  @SkipLimits()
  free(): string {
    return 'free'
  }

  @Query(() => Int)
  @RateLimit({ name: 'keyed', limit: 1, window: '1m', key: byHeader('x-user') })
  age(@Args('of', { type: () => String }) of: string): number {
    return of.length
  }

  @Query(() => String)
  @InflightLimit({ name: 'slow', limit: 1 })
  async slow(): Promise<string> {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return 'slow'
  }

  @Query(() => String)
  @InflightLimit({ name: 'queued', limit: 1, queue: { max: 9, maxWaitMs: '1m' }, key: arrive })
  async queued(): Promise<string> {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return 'queued'
  }

  @Query(() => String)
  async pending(): Promise<string> {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return 'pending'
  }

  @Mutation(() => String)
  @RateLimit({ name: 'routes', limit: 1, window: '1m', key: byRoute() })
  first(): string {
    return 'first'
  }

  @Mutation(() => String)
  @RateLimit({ name: 'routes', limit: 1, window: '1m', key: byRoute() })
  second(): string {
    return 'second'
  }

  @Query(() => String)
  @InflightLimit({ name: 'failing', limit: 1 })
  failing(): string {
    throw new Error('no database')
  }
}

/** An application with one GraphQL endpoint behind these limits. */
export function graphqlApp(options: SluiceModuleOptions): AppOptions {
  const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    playground: false,
    fieldResolverEnhancers: ['guards', 'interceptors'],
  })
  return { imports: [SluiceModule.forRoot(options), graphql], providers: [Cats, Rows] }
}
