import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo'
import { Args, GraphQLModule, Int, Query, Resolver } from '@nestjs/graphql'
import { byHeader, InflightLimit, RateLimit, SkipLimits, SluiceModule, type SluiceModuleOptions } from '@sluice/nest'
import type { AppOptions } from './nest-app.ts'

/** Callbacks that resume the waiting handlers of `slow`. */
export const waiting: (() => void)[] = []

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
  })
  return { imports: [SluiceModule.forRoot(options), graphql], providers: [Cats] }
}
