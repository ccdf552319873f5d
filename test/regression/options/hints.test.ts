import { describe, expect, test } from '@jest/globals'
import { Controller, Get, Module } from '@nestjs/common'
import * as express from '@sluice/express'
import * as fastifyPackage from '@sluice/fastify'
import * as fetchPackage from '@sluice/fetch'
import * as hono from '@sluice/hono'
import * as koa from '@sluice/koa'
import { createLimiter } from '@sluice/limiter-core'
import { RateLimit as NestRateLimit, SluiceModule } from '@sluice/nest'
import { quota } from '@sluice/quotas'
import expressApp from 'express'
import { type FastifyPluginAsync, fastify } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { express4 } from '../../adapters/express/express4.ts'
import { type AppOptions, nestApp } from '../../nest/nest-app.ts'

/** Options as in JavaScript, without type checks. */
// biome-ignore lint/suspicious/noExplicitAny: these calls are wrong on purpose
type Any = any
type Untyped = (...args: Any[]) => Any

const POLICY = { limit: 5, window: '1m' } as const
const limit = express.rateLimit as Untyped
const plugin = fastifyPackage.sluice as FastifyPluginAsync<object>

async function messageOf(run: () => unknown): Promise<string> {
  try {
    await run()
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

async function onFastify(options: unknown, route: object = {}): Promise<void> {
  const app = fastify()
  await app.register(plugin, options as object)
  app.get('/', route, async () => 'ok')
  await app.ready()
}

async function onNest(options: unknown, controllers: AppOptions['controllers'] = []): Promise<void> {
  await (await nestApp('Express', { imports: [SluiceModule.forRoot(options as object)], controllers })).close()
}

/** A mistake, what the message says first, and a word that must come after it, if any. */
type Mistake = readonly [what: string, run: () => unknown, says: string, before?: string]

const mistakes: readonly Mistake[] = [
  [
    'a limit next to rateLimit, in the plugin of Fastify',
    () => onFastify({ limit: 5 }),
    'register(sluice): expected limit in rateLimit: { … }, received an unknown option "limit"',
    'inflightLimit',
  ],
  [
    'the options of @fastify/rate-limit in the plugin of Fastify',
    () => onFastify({ max: 5, timeWindow: '1m' }),
    'register(sluice): expected limit: 100 in rateLimit: { … }, received an unknown option "max"',
  ],
  [
    'a limit next to rateLimit, in the module of Nest',
    () => onNest(POLICY),
    'SluiceModule.forRoot: expected limit in rateLimit: { … }, received an unknown option "limit"',
  ],
  [
    'a list in the module of Nest',
    () => onNest([POLICY]),
    'SluiceModule.forRoot: expected policies: […] in rateLimit: { … }, received an array of length 1',
  ],
  [
    'options without a factory in the module of Nest',
    () => (SluiceModule.forRootAsync as Untyped)({ rateLimit: POLICY }),
    'SluiceModule.forRootAsync: expected rateLimit in the result of useFactory, received an unknown option',
  ],
  ['a list of policies', () => limit([POLICY]), 'rateLimit: expected { policies: […] }, received an array of length 1'],
  [
    'a list of policies without requests',
    () => (createLimiter as Untyped)([POLICY]),
    'createLimiter: expected { policies: […] }, received an array of length 1',
  ],
  [
    'false for a route of Fastify',
    () => onFastify({}, { config: { sluice: false } }),
    'route GET /: config.sluice: expected { skipLimits: true }, received false',
  ],
  [
    'a limit for each plan',
    () => limit({ ...POLICY, limit: { free: 10, pro: 100 } }),
    "policy 'default': limit: expected a number or a function of the request; for limits by plan, plans: { free:",
  ],
  ['per in code', () => limit({ limit: 5, per: '1m' }), "rateLimit: expected window: '1m', received an unknown"],
  [
    'per in a list of policies',
    () => limit({ policies: [{ name: 'a', limit: 5, per: '1m' }] }),
    'policy: expected window: \'1m\', received an unknown option "per"',
  ],
  [
    'window in a quota',
    () => (quota as Untyped)({ limit: 5, window: '30d' }),
    'quota: expected per: \'month\', received an unknown option "window"',
  ],
  [
    'two policies without names',
    () => limit({ policies: [POLICY, { limit: 9, window: '1h' }] }),
    "policies: expected a name for each policy, as in { name: 'burst', … }, received 2 policies without a name",
  ],
  ['a misspelt window', () => limit({ limit: 5, windw: '1m' }), 'rateLimit: expected window, received an unknown'],
  [
    'trustProxy',
    () => limit({ ...POLICY, trustProxy: true }),
    'rateLimit: expected trust: { ranges: [\'10.0.0.0/8\'] }, received an unknown option "trustProxy"',
  ],
  [
    'validate',
    () => limit({ ...POLICY, validate: false }),
    'rateLimit: expected no validate, because invalid options always throw, received an unknown option "validate"',
  ],
  [
    'a hook in the plugin of Fastify',
    () => onFastify({ hook: 'preHandler' }),
    'register(sluice): expected phase: \'preHandler\', received an unknown option "hook"',
  ],
  [
    'a hook for a hook of Fastify',
    () => (fastifyPackage.rateLimit as Untyped)({ ...POLICY, hook: 'preHandler' }),
    "rateLimit: expected no hook: mount the limiter where it should run, as in app.addHook('preHandler'",
  ],
  [
    'standardHeaders',
    () => limit({ ...POLICY, standardHeaders: 'draft-8' }),
    'rateLimit: expected headers: \'draft\', received an unknown option "standardHeaders"',
  ],
  [
    'draft-7 for headers',
    () => limit({ ...POLICY, headers: 'draft-7' as never }),
    "headers: expected 'draft-8' (one of 'draft', 'draft-8', 'draft-11', 'next',",
  ],
  [
    'failure instead of failures',
    () => limit({ ...POLICY, countOnly: 'failure' }),
    "countOnly: expected 'failures' (one of 'failures', 'successes'), received \"failure\"",
  ],
  [
    'skip in a policy',
    () => limit({ policies: [{ ...POLICY, skip: () => true }] }),
    'policy: expected skip next to policies, received an unknown option "skip"',
  ],
  [
    'a limit in createSluice',
    () => (express.createSluice as Untyped)(POLICY),
    'createSluice: expected limit in rateLimit({ … }) of its result, received an unknown option "limit"',
  ],
]

test.each(mistakes)('the message says first what to write instead of %s', async (_what, run, says) => {
  const message = await messageOf(run)
  expect(message.replace(/^SLUICE_[A-Z_]+: /, '').slice(0, says.length)).toBe(says)
})

describe('named policies of Nest', () => {
  const policies = [
    { name: 'login', ...POLICY },
    { name: 'search', ...POLICY },
  ]
  const controllersWith = (...decorators: MethodDecorator[]): NonNullable<AppOptions['controllers']> => {
    class Home {
      home(): string {
        return 'ok'
      }
    }
    Controller()(Home)
    const method = Object.getOwnPropertyDescriptor(Home.prototype, 'home') as PropertyDescriptor
    for (const decorate of [Get() as MethodDecorator, ...decorators]) decorate(Home.prototype, 'home', method)
    return [Home]
  }

  test('that no decorator uses are rejected if the module has no other limits', async () => {
    const says =
      /policies: expected rateLimit: \{ policies: \[…\] \} for limits on all routes, or @RateLimit\('name'\) .+, received policies that no decorator uses: "login", "search"/
    await expect(onNest({ policies }, controllersWith())).rejects.toThrow(says)
  })

  test('that one decorator uses are accepted', async () => {
    await onNest({ policies: [policies[0]] }, controllersWith(NestRateLimit('login')))
  })
})

describe('limits of a route outside of config.sluice', () => {
  const elsewhere: readonly (readonly [object, string])[] = [
    [{ config: { rateLimit: { max: 5 } } }, 'route /: config: expected config: { sluice: { rateLimit: … } }, received'],
    [{ config: { rateLimit: false } }, 'route /: config: expected config: { sluice: { rateLimit: … } }, received'],
    [{ config: { inflightLimit: { limit: 2 } } }, 'route /: config: expected config: { sluice: { inflightLimit: … } }'],
    [{ config: { slowDown: false } }, 'route /: config: expected config: { sluice: { slowDown: … } }'],
    [{ rateLimit: POLICY }, 'route /: expected config: { sluice: { rateLimit: … } }, received rateLimit'],
    [{ sluice: { rateLimit: POLICY } }, 'route /: expected config: { sluice: { … } }, received sluice'],
  ]

  test.each(elsewhere)('are rejected: %j', async (route, says) => {
    expect(await messageOf(() => onFastify({}, route))).toContain(says)
  })

  test('are left to @fastify/rate-limit if it is registered', async () => {
    const app = fastify()
    await app.register((await import('@fastify/rate-limit')).default, { global: false })
    await app.register(plugin, {})
    app.get('/', { config: { rateLimit: { max: 1 } } }, async () => 'ok')
    const asked = [await app.inject('/'), await app.inject('/')]
    expect(asked.map(({ statusCode }) => statusCode)).toEqual([200, 429])
  })
})

describe('a function that was not called, or a decorator, is rejected where it is mounted', () => {
  const NAMES = ['rateLimit', 'inflightLimit', 'slowDown', 'shed'] as const
  const WORDS = ['RateLimit', 'InflightLimit', 'SlowDown', 'Shed'] as const
  const VALID = [POLICY, { limit: 5 }, { after: 1, window: '1m', delayMs: 1, maxDelayMs: 5 }, {}] as const

  /** Uncalled functions, and decorators with and without a call, of a package and of its `createSluice`. */
  function wrongOf(made: Any): readonly (readonly [string, unknown])[] {
    const all = [made, made.createSluice()]
    return all.flatMap((one) => [
      ...NAMES.map((name) => [`the function ${name} itself`, one[name]] as const),
      ...WORDS.flatMap((word, index) => [
        [`the decorator @${word}`, one[word]] as const,
        [`the decorator @${word}`, one[word](VALID[index])] as const,
      ]),
    ])
  }

  test.each([
    ['Express 5', (wrong: Any) => expressApp().use(wrong), express],
    ['Express 4', (wrong: Any) => express4().use(wrong), express],
    ['Koa', (wrong: Any) => new Koa().use(wrong), koa],
  ])('by %s', (_name, mount, made) => {
    for (const [received, wrong] of wrongOf(made)) {
      expect(() => mount(wrong)).toThrow(
        new RegExp(`SLUICE_BAD_OPTION: app.use: expected the result of \\w+\\(\\{ … \\}\\), received ${received}`),
      )
    }
  })

  test('by Fastify, as a hook of the application or of a route, and as a plugin', async () => {
    for (const [received, wrong] of wrongOf(fastifyPackage)) {
      for (const mount of ['addHook', 'route', 'register']) {
        const message = await messageOf(async () => {
          const app = fastify()
          if (mount === 'addHook') app.addHook('onRequest', wrong as Any)
          if (mount === 'register') app.register(wrong as Any, POLICY)
          app.get('/', mount === 'route' ? { onRequest: wrong as Any } : {}, async () => 'ok')
          await app.ready()
        })
        expect({ mount, received, message }).toEqual({
          mount,
          received,
          message: expect.stringContaining(`SLUICE_BAD_OPTION: app.addHook: expected the result of `),
        })
      }
    }
    const hook = fastifyPackage.rateLimit(POLICY)
    await expect(messageOf(() => fastify().register(hook as Any))).resolves.toContain(
      "app.register: expected app.addHook('onRequest', hook), received a hook as a plugin",
    )
  })

  test('by Nest', async () => {
    const app = expressApp()
    expect(() => app.use(NestRateLimit(POLICY) as Any)).toThrow('received the decorator @RateLimit')
    expect(() => app.use(NestRateLimit as Any)).toThrow('received the function RateLimit itself')
    class Home {
      home(): void {}
    }
    const decorate = NestRateLimit as Any
    expect(() => decorate(Home)).toThrow('@RateLimit: expected options or the name of a policy, received a function')
    expect(() => decorate(Home.prototype, 'home', {})).toThrow(
      '@RateLimit: expected options or the name of a policy, as in @RateLimit({ … }), received no arguments',
    )
    Module({})(Home)
  })

  test('by its answer to a request, where a framework reads nothing at start-up', async () => {
    const ofHono: Readonly<Record<string, unknown>> = { ...hono }
    const ofFetch: Readonly<Record<string, unknown>> = { ...fetchPackage }
    const errors: string[] = []
    const app = new Hono()
    for (const name of NAMES) app.use(`/${name}`, ofHono[name] as Any)
    app.onError((error, c) => {
      errors.push(error.message)
      return c.text('failed', 500)
    })
    for (const name of NAMES) await app.request(`/${name}`)
    const says = (name: string): string =>
      `SLUICE_BAD_OPTION: ${name}: expected options, as in ${name}({ … }), received a request`
    expect(errors).toEqual(NAMES.map((name) => expect.stringContaining(says(name))))
    const request = new Request('http://localhost/')
    for (const name of NAMES) expect(() => (ofFetch[name] as Untyped)(request)).toThrow(says(name))
  })
})
