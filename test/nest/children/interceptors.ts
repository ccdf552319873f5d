import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CallHandler, Controller, Get, type NestInterceptor, UseInterceptors } from '@nestjs/common'
import {
  InflightLimit,
  RateLimit,
  SkipLimits,
  SlowDown,
  SluiceGuard,
  SluiceModule,
  type SluiceModuleOptions,
} from '@sluice/nest'
import { policies } from '@sluice/policies'
import { type AppOptions, platforms } from '../nest-app.ts'
import { onSite } from '../site.ts'

const MANY = { limit: 100, window: '1m' } as const
const settled = { reserve: 2, settle: () => 1 }
const ban = { after: 1, within: '1m', for: '1m' } as const

/** Returns whether an interceptor runs the handler that calls it. */
function isIntercepted(): string {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 50
  const { stack } = new Error('here')
  Error.stackTraceLimit = stackTraceLimit
  return String(stack?.includes('rxjs'))
}

@Controller()
class Home {
  @Get()
  home(): string {
    return isIntercepted()
  }
}

const ran: string[] = []

/** Stands for an interceptor that reads an upload. */
const reading: NestInterceptor = {
  intercept: (_context, next: CallHandler) => {
    ran.push('reads')
    return next.handle()
  },
}

const weight = () => {
  ran.push('cap')
  return 2
}
const full = { name: 'full', limit: 1, weight, status: 429 } as const

@Controller('decorated')
class Decorated {
  @Get('plain')
  plain(): string {
    return isIntercepted()
  }

  @Get('rate')
  @RateLimit({ ...MANY, name: 'rate' })
  @SlowDown({ after: 10, window: '1m', delayMs: 10, maxDelayMs: 10 })
  @InflightLimit(false)
  @SkipLimits('burst')
  rate(): string {
    return isIntercepted()
  }

  @Get('cap')
  @InflightLimit({ name: 'cap', limit: 9 })
  cap(): string {
    return isIntercepted()
  }

  @Get('settled')
  @RateLimit({ ...MANY, name: 'settled', cost: settled })
  settled(): string {
    return isIntercepted()
  }

  @Get('below')
  @UseInterceptors(reading)
  @InflightLimit(full)
  below(): string {
    return 'below'
  }

  @Get('above')
  @InflightLimit(full)
  @UseInterceptors(reading)
  above(): string {
    return 'above'
  }
}

@InflightLimit({ name: 'class', limit: 9 })
class Base {}

@Controller('derived')
class Derived extends Base {
  @Get()
  home(): string {
    return isIntercepted()
  }
}

const app = (options: SluiceModuleOptions, controllers: AppOptions['controllers'] = [Home]): AppOptions => ({
  imports: [SluiceModule.forRoot(options)],
  controllers,
})

const without: Readonly<Record<string, SluiceModuleOptions>> = {
  'no limits': {},
  'a rate': { rateLimit: MANY },
  'several rates, plans and named policies': {
    rateLimit: { plans: { free: [{ ...MANY, cost: 2 }], pro: [{ ...MANY, name: 'pro' }] }, plan: () => 'free' },
    policies: [{ ...MANY, name: 'named', cost: () => 1 }],
  },
  'a ban after denials': { rateLimit: { ...MANY, ban } },
  'a slow-down': { slowDown: { after: 10, window: '1m', delayMs: 10, maxDelayMs: 10 } },
}

const withWork: Readonly<Record<string, SluiceModuleOptions>> = {
  'a cap': { inflightLimit: { limit: 9 } },
  'a settled cost': { rateLimit: { ...MANY, cost: settled } },
  'a settled cost of one of several policies': {
    rateLimit: {
      policies: [
        { ...MANY, name: 'plain' },
        { ...MANY, cost: settled },
      ],
    },
  },
  'a settled cost of a plan': {
    rateLimit: { plans: { free: [{ ...MANY, cost: settled }] }, plan: () => 'free' },
  },
  'a streamed cost': {
    rateLimit: { limit: 100, window: '1m', maxHoldMs: '1m', cost: { reserve: 1, extend: 'stream' } },
  },
  'a settled cost of a slow-down': {
    slowDown: { after: 10, window: '1m', delayMs: 10, maxDelayMs: 10, cost: settled },
  },
  'a settled cost of a named policy': { rateLimit: MANY, policies: [{ ...MANY, name: 'named', cost: settled }] },
  'requests that count if they fail': { rateLimit: { ...MANY, countOnly: 'failures' } },
  'a ban after failures': { rateLimit: { ...MANY, ban: { ...ban, strikes: 'failures' } } },
  'a ban that a success forgives': { rateLimit: { ...MANY, ban: { ...ban, forgiveOn: 'success' } } },
  'policies that can change': {
    rateLimit: policies('examples/policies/policies.yaml', { attributes: attributesOfExample() }),
  },
  'a cap in another context': { contexts: { rpc: { inflightLimit: { limit: 9 } } } },
}

function attributesOfExample() {
  return { customer: () => 'anna', plan: () => 'free', db_ms: () => undefined }
}

for (const platform of platforms) {
  describe(`an interceptor, Nest ${process.env.NEST} on ${platform},`, () => {
    for (const [what, options] of Object.entries(without)) {
      test(`runs no handler of a module with ${what}`, () =>
        onSite(platform, app(options), async ({ ask }) => assert.equal(await (await ask('/')).text(), 'false')))
    }

    for (const [what, options] of Object.entries(withWork)) {
      test(`runs all handlers of a module with ${what}`, () =>
        onSite(platform, app(options), async ({ ask }) => assert.equal(await (await ask('/')).text(), 'true')))
    }

    test('runs all handlers if a nested import of the module needs it', () => {
      const imports = [
        SluiceModule.forRoot({ rateLimit: MANY }),
        SluiceModule.forRoot({ inflightLimit: { limit: 9 } }),
        SluiceModule.forRoot({ inflightLimit: { limit: 8 } }),
      ]
      return onSite(platform, { imports, controllers: [Home] }, async ({ ask }) =>
        assert.equal(await (await ask('/')).text(), 'true'),
      )
    })

    test('runs only the handlers whose decorators need it', () =>
      onSite(platform, app({ rateLimit: MANY }, [Decorated, Derived]), async ({ ask }) => {
        const seen = ['plain', 'rate', 'cap', 'settled'].map(async (path) => (await ask(`/decorated/${path}`)).text())
        assert.deepEqual(await Promise.all(seen), ['false', 'false', 'true', 'true'])
        assert.equal(await (await ask('/derived')).text(), 'true')
      }))

    for (const path of ['above', 'below']) {
      test(`of a cap ${path} another interceptor runs first`, () =>
        onSite(platform, app({}, [Decorated]), async ({ statuses }) => {
          ran.length = 0
          assert.deepEqual(await statuses(`/decorated/${path}`), [429])
          assert.deepEqual(ran, ['cap'])
        }))
    }

    test('of a decorator applies nothing if no guard of the module has checked the request', async () => {
      await onSite(platform, app({ bind: false } as SluiceModuleOptions, [Decorated]), async ({ statuses }) =>
        assert.deepEqual(await statuses('/decorated/above'), [200]),
      )
      await onSite(platform, { controllers: [Decorated] }, async ({ statuses }) =>
        assert.deepEqual(await statuses('/decorated/above'), [200]),
      )
    })

    test('of a decorator applies where the guard is bound manually', () => {
      const prepare: AppOptions['prepare'] = (made) => made.useGlobalGuards(made.get(SluiceGuard))
      return onSite(
        platform,
        { ...app({ bind: false } as SluiceModuleOptions, [Decorated]), prepare },
        async ({ statuses }) => assert.deepEqual(await statuses('/decorated/above', '/decorated/plain'), [429, 200]),
      )
    })
  })
}
