import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Controller, Get, Module } from '@nestjs/common'
import { memoryBackend, RateLimit, SkipLimits, SluiceModule, type SluiceModuleOptions } from '@sluice/nest'
import { FakeClock, Watcher } from '@sluice/testkit'
import { type AppOptions, moduleOf, nestApp, platforms } from '../nest-app.ts'
import { onSite } from '../site.ts'

const ONE = { limit: 1, window: '1m' } as const
const LOGIN = { name: 'login', ...ONE } as const

@Controller()
class Home {
  @Get()
  home(): string {
    return 'home'
  }

  @Get('health')
  @SkipLimits()
  health(): string {
    return 'well'
  }
}

@Controller('login')
class Login {
  @Get()
  @RateLimit('login')
  logIn(): string {
    return 'in'
  }

  @Get('code')
  @RateLimit('login')
  code(): string {
    return 'in'
  }

  @Get('free')
  free(): string {
    return 'free'
  }
}

function app(options: SluiceModuleOptions, more: AppOptions = {}): AppOptions {
  return { imports: [SluiceModule.forRoot(options)], controllers: [Home, Login], ...more }
}

const LIMITED = { policies: [LOGIN], rateLimit: { limit: 2, window: '1m' } } as const

for (const platform of platforms) {
  describe(`SluiceModule, Nest ${process.env.NEST} on ${platform}`, () => {
    test('limits every route, except routes that skip it', () =>
      onSite(platform, app(LIMITED), async ({ statuses }) => {
        assert.deepEqual(await statuses('/', '/login/free', '/', '/health'), [200, 200, 429, 200])
      }))

    test('counts a named policy once for all handlers that use it, and for no other handler', () =>
      onSite(platform, app({ policies: [LOGIN] }), async ({ statuses }) => {
        assert.deepEqual(await statuses('/login', '/login/code', '/login', '/'), [200, 429, 429, 200])
      }))

    test('charges all policies of a request or none', () =>
      onSite(platform, app({ ...LIMITED, rateLimit: { limit: 3, window: '1m' } }), async ({ ask, statuses }) => {
        assert.deepEqual(await statuses('/login', '/login', '/login'), [200, 429, 429])
        const { headers } = await ask('/')
        assert.match(headers.get('ratelimit') ?? '', /^"default";r=1;/)
      }))

    test('accepts options from a factory', async () => {
      const SETTINGS = Symbol('settings')
      @Module({ providers: [{ provide: SETTINGS, useValue: { limit: 1 } }], exports: [SETTINGS] })
      class Settings {}
      const limits = SluiceModule.forRootAsync({
        imports: [Settings],
        inject: [SETTINGS],
        useFactory: async ({ limit }: { limit: number }) => ({ rateLimit: { limit, window: '1m' } }),
      })
      await onSite(platform, { imports: [limits], controllers: [Home] }, async ({ statuses }) => {
        assert.deepEqual(await statuses('/', '/', '/health'), [200, 429, 200])
      })
    })

    test('counts a request once even if several modules import it', async () => {
      const rateLimit = { limit: 2, window: '1m', algorithm: 'fixed-window' } as const
      const policies = [LOGIN]
      const nested = moduleOf({ imports: [SluiceModule.forRoot({ rateLimit, policies })], controllers: [Home] })
      const watcher = new Watcher()
      const imports = [SluiceModule.forRoot({ rateLimit, policies, observers: [watcher] }), nested]
      await onSite(platform, { imports }, async ({ statuses }) => {
        assert.deepEqual(await statuses('/', '/', '/'), [200, 200, 429])
        assert.equal(watcher.decisions.length, 3)
      })
    })

    test('adds limits with other names from a second import to the limits of the first', async () => {
      const nested = moduleOf({ imports: [SluiceModule.forRoot({ rateLimit: LOGIN })], controllers: [Home] })
      const imports = [SluiceModule.forRoot({ rateLimit: { limit: 5, window: '1m' } }), nested]
      await onSite(platform, { imports }, async ({ ask, statuses }) => {
        assert.match((await ask('/')).headers.get('ratelimit') ?? '', /"default";r=4.*"login";r=0/)
        assert.deepEqual(await statuses('/'), [429])
      })
    })

    test('ends with the application, which releases the names of its counts', async () => {
      const backend = memoryBackend()
      for (const limit of [1, 2]) {
        await onSite(
          platform,
          app({ ...LIMITED, rateLimit: { limit, window: '1m', algorithm: 'fixed-window' }, backend }),
          async ({ statuses }) => {
            // units taken by the previous application are still counted
            assert.deepEqual(await statuses('/', '/'), [200, 429])
          },
        )
      }
    })

    test('counts with the configured clock', async () => {
      const clock = new FakeClock()
      await onSite(platform, app({ policies: [LOGIN], clock }), async ({ statuses }) => {
        assert.deepEqual(await statuses('/login', '/login'), [200, 429])
        clock.advance(120_000)
        assert.deepEqual(await statuses('/login'), [200])
      })
    })

    test('leaves requests without a route to Nest', () =>
      onSite(platform, app({ ...LIMITED, rateLimit: ONE }), async ({ statuses }) => {
        assert.deepEqual(await statuses('/nowhere', '/nowhere'), [404, 404])
      }))
  })
}

describe(`invalid options, Nest ${process.env.NEST}`, () => {
  const bad: Readonly<Record<string, [SluiceModuleOptions, string, RegExp]>> = {
    'a limit of 0': [{ rateLimit: { limit: 0, window: '1m' } }, 'SLUICE_BAD_LIMIT', /limit/],
    'an unknown option': [{ limits: [] } as never, 'SLUICE_BAD_OPTION', /limits/],
    'policies that are not an array': [{ policies: LOGIN } as never, 'SLUICE_BAD_OPTION', /policies/],
    'a policy without a name': [{ policies: [ONE] }, 'SLUICE_BAD_NAME', /name/],
    'an invalid policy': [{ policies: [null as never] }, 'SLUICE_BAD_OPTION', /policies/],
    'two policies of one name': [{ policies: [LOGIN, LOGIN] }, 'SLUICE_DUPLICATE_POLICY', /login/],
    'an invalid named policy, even if it is unused': [
      { policies: [{ name: 'odd', limit: 1, window: 'soon' as never }] },
      'SLUICE_BAD_DURATION',
      /window/,
    ],
    'an unknown policy name': [{}, 'SLUICE_UNKNOWN_POLICY', /Login\.logIn: @RateLimit: expected .*, received "login"/],
  }
  for (const [what, [options, code, message]] of Object.entries(bad)) {
    test(`fails at start-up: ${what}`, async () => {
      await assert.rejects(
        nestApp(
          'Express',
          app({ policies: [LOGIN], ...options, ...(code === 'SLUICE_UNKNOWN_POLICY' && { policies: [] }) }),
        ),
        { code, message },
      )
    })
  }

  test('a module imported without forRoot limits nothing, and fails at start-up', async () => {
    const options = { imports: [SluiceModule], controllers: [Login] }
    await assert.rejects(nestApp('Express', options), { code: 'SLUICE_BAD_OPTION', message: /forRoot/ })
  })

  test('a module imported without options uses the options of another import', async () => {
    const nested = moduleOf({ imports: [SluiceModule], controllers: [Home] })
    const options = { imports: [nested, SluiceModule.forRoot({ rateLimit: ONE })] }
    await onSite('Express', options, async ({ statuses }) => assert.deepEqual(await statuses('/', '/'), [200, 429]))
  })

  test('invalid options from a factory fail at start-up as well', async () => {
    const limits = SluiceModule.forRootAsync({ useFactory: () => ({ rateLimit: { limit: -1, window: '1m' } }) })
    await assert.rejects(nestApp('Express', { imports: [limits] }), { code: 'SLUICE_BAD_LIMIT' })
  })

  test('an invalid option of a decorator fails at start-up with its location', async () => {
    @Controller()
    class Wrong {
      @Get()
      @RateLimit({ limit: 1, window: 60 })
      home(): void {}
    }
    const options = { imports: [SluiceModule.forRoot({})], controllers: [Wrong] }
    await assert.rejects(nestApp('Express', options), { code: 'SLUICE_BAD_DURATION', message: /Wrong\.home: .*window/ })
  })

  test('two limits with one name in one place fail at start-up', async () => {
    @Controller()
    class Twice {
      @Get()
      @RateLimit(ONE)
      @RateLimit({ limit: 2, window: '1h' })
      home(): void {}
    }
    const options = { imports: [SluiceModule.forRoot({})], controllers: [Twice] }
    await assert.rejects(nestApp('Express', options), {
      code: 'SLUICE_DUPLICATE_POLICY',
      message: /Twice\.home: .*default/,
    })
  })

  test('a decorator without parentheses fails when the class is defined', () => {
    assert.throws(() => RateLimit(class {} as never), { code: 'SLUICE_BAD_OPTION' })
    assert.throws(() => SkipLimits(5 as never), { code: 'SLUICE_BAD_OPTION' })
    assert.throws(() => RateLimit(ONE)(Home.prototype, 'home', { get: () => undefined }), { code: 'SLUICE_BAD_OPTION' })
  })
})
