import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Controller, Get } from '@nestjs/common'
import { memoryBackend, RateLimit, SkipLimits, SlowDown, SluiceModule, type SluiceModuleOptions } from '@sluice/nest'
import { FakeClock, until } from '@sluice/testkit'
import { type Platform, platforms } from '../nest-app.ts'
import { onSite, type Site } from '../site.ts'

const FIXED = { window: '1m', algorithm: 'fixed-window' } as const

abstract class Crud {
  @Get()
  @RateLimit({ name: 'list', limit: 1, ...FIXED })
  list(): string {
    return 'all'
  }

  @Get('one')
  @RateLimit({ name: 'one', limit: 1, ...FIXED })
  one(): string {
    return 'one'
  }
}
RateLimit({ name: 'class', limit: 5, ...FIXED })(Crud)

@Controller('cats')
class Cats extends Crud {}

@Controller('dogs')
@RateLimit({ name: 'class', limit: 9, ...FIXED })
@RateLimit({ name: 'dogs', limit: 8, ...FIXED })
class Dogs extends Crud {
  @Get('one')
  override one(): string {
    return 'dog'
  }
}

@Controller('stacked')
@RateLimit({ name: 'class', limit: 5, ...FIXED })
class Stacked {
  @Get()
  @RateLimit({ name: 'burst', limit: 1, ...FIXED })
  @RateLimit({ name: 'daily', limit: 9, ...FIXED })
  @SkipLimits('class')
  both(): string {
    return 'both'
  }

  @Get('own')
  @RateLimit({ name: 'own', limit: 3, ...FIXED })
  @SkipLimits()
  own(): string {
    return 'own'
  }

  @Get('none')
  @RateLimit(false)
  none(): string {
    return 'none'
  }

  @Get('slow')
  @SlowDown({ after: 1, window: '1m', delayMs: '1s', maxDelayMs: '1s' })
  slow(): string {
    return 'slow'
  }
}

/** Units left by policy after one more request. */
async function left({ ask }: Site, path: string): Promise<string> {
  const { status, headers } = await ask(path)
  const items = [...(headers.get('ratelimit') ?? '').matchAll(/"([^"]+)";r=(\d+)/g)]
  return [status, ...items.map(([, name, units]) => `${name} ${units}`).sort()].join(', ')
}

function zoo(
  platform: Platform,
  visit: (site: Site) => Promise<void>,
  options: SluiceModuleOptions = {},
): Promise<void> {
  const limits = SluiceModule.forRoot({ rateLimit: { limit: 20, ...FIXED }, ...options })
  return onSite(platform, { imports: [limits], controllers: [Cats, Dogs, Stacked] }, visit)
}

for (const platform of platforms) {
  describe(`decorators, Nest ${process.env.NEST} on ${platform}`, () => {
    test('of a base class apply to each subclass, and share its count', () =>
      zoo(platform, async (site) => {
        assert.equal(await left(site, '/cats'), '200, class 4, default 19, list 0')
        assert.equal(await left(site, '/cats'), '429, list 0')
        assert.equal(await left(site, '/dogs'), '200, class 8, default 18, dogs 7, list 0')
      }))

    test('of a method do not apply to a method that overrides it', () =>
      zoo(platform, async (site) => {
        assert.equal(await left(site, '/cats/one'), '200, class 4, default 19, one 0')
        assert.equal(await left(site, '/dogs/one'), '200, class 8, default 18, dogs 7')
        assert.equal(await left(site, '/dogs/one'), '200, class 7, default 17, dogs 6')
      }))

    test('are stacked, and skip only limits of outer layers, in any order', () =>
      zoo(platform, async (site) => {
        assert.equal(await left(site, '/stacked'), '200, burst 0, daily 8, default 19')
        assert.equal(await left(site, '/stacked'), '429, burst 0')
        assert.equal(await left(site, '/stacked/own'), '200, own 2')
        assert.equal(await left(site, '/stacked/none'), '200')
      }))

    test('count separately on a shared backend, also if classes have the same name', async () => {
      const Other = Controller('other')(class {} as never) ?? class {}
      const twin = { Cats: class Cats extends (Other as never as new () => object) {} }.Cats
      Object.assign(twin.prototype, { list: () => 'twin' })
      const descriptor = Object.getOwnPropertyDescriptor(twin.prototype, 'list') as PropertyDescriptor
      RateLimit({ name: 'list', limit: 4, ...FIXED })(twin.prototype, 'list', descriptor)
      Get()(twin.prototype, 'list', descriptor)
      Controller('twins')(twin)
      const imports = [SluiceModule.forRoot({ backend: memoryBackend() })]
      await onSite(platform, { imports, controllers: [Cats, twin] }, async (site) => {
        assert.equal(await left(site, '/cats'), '200, class 4, list 0')
        assert.equal(await left(site, '/twins'), '200, list 3')
      })
    })

    test('delay requests', async () => {
      const clock = new FakeClock()
      await zoo(
        platform,
        async ({ ask, statuses }) => {
          assert.deepEqual(await statuses('/stacked/slow'), [200])
          let answered = 0
          const second = ask('/stacked/slow').then(({ status }) => {
            answered = status
          })
          await until(() => clock.pending === 1)
          assert.equal(answered, 0)
          clock.advance(1_000)
          await second
          assert.equal(answered, 200)
        },
        { clock },
      )
    })
  })
}
