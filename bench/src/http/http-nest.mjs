import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { bothWays, windowMs } from './both-ways.mjs'

// the Nest version next to @sluice/nest and @nestjs/throttler; the one in this folder is older
const fromRoot = createRequire(new URL('../../../package.json', import.meta.url))
const load = (name) => import(pathToFileURL(fromRoot.resolve(name)).href)

/** `partsOf` returns the imports and providers that the limit adds to the application module. */
const behind = (partsOf) => async (limit) => {
  await load('reflect-metadata')
  const { Controller, Get, Module } = await load('@nestjs/common')
  const { NestFactory } = await load('@nestjs/core')
  class Hello {
    hello() {
      return 'hello'
    }
  }
  Get()(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello'))
  Controller()(Hello)
  class App {}
  Module({ controllers: [Hello], ...(await partsOf(limit)) })(App)
  const app = await NestFactory.create(App, { logger: false })
  await app.init()
  return app.getHttpServer()
}

export const nestContenders = [
  { name: 'nest, bare', denial: false, serve: behind(() => ({})) },
  { name: 'nest, a guard that does nothing', role: 'floor', denial: false, serve: behind(emptyGuard) },
  { name: 'nest, a guard and an interceptor that do nothing', role: 'floor', denial: false, serve: behind(emptyBoth) },
  ...bothWays(
    '@sluice/nest rateLimit',
    'sluice',
    behind((limit) => sluiceParts({ rateLimit: { limit, window: windowMs } })),
    { part: 'rate' },
  ),
  ...bothWays(
    '@sluice/nest inflightLimit + rateLimit',
    'sluice',
    behind((limit) => sluiceParts({ rateLimit: { limit, window: windowMs }, inflightLimit: { limit: 10_000 } })),
    { part: 'both' },
  ),
  ...bothWays(
    '@nestjs/throttler',
    'peer',
    behind(async (limit) => {
      const { default: throttler } = await import('@nestjs/throttler')
      const { APP_GUARD } = await load('@nestjs/core')
      // it iterates over a timestamp per unit of its window: 10 ms keep about as many as an ordinary limit
      const ttl = limit === 1 ? windowMs : 10
      return {
        imports: [throttler.ThrottlerModule.forRoot([{ ttl, limit }])],
        providers: [{ provide: APP_GUARD, useClass: throttler.ThrottlerGuard }],
      }
    }),
  ),
]

async function emptyGuard() {
  const { APP_GUARD } = await load('@nestjs/core')
  return { providers: [{ provide: APP_GUARD, useValue: { canActivate: () => true } }] }
}

async function emptyBoth() {
  const { APP_INTERCEPTOR } = await load('@nestjs/core')
  const { providers } = await emptyGuard()
  const empty = { intercept: (_context, next) => next.handle() }
  return { providers: [...providers, { provide: APP_INTERCEPTOR, useValue: empty }] }
}

async function sluiceParts(options) {
  const { SluiceModule } = await import('@sluice/nest')
  return { imports: [SluiceModule.forRoot(options)] }
}
