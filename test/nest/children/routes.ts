import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { All, Controller, Get, Head, Post, Version, VersioningType } from '@nestjs/common'
import { byRoute, InflightLimit, type Observer, RateLimit, SluiceModule } from '@sluice/nest'
import { eachSeed, until, Watcher } from '@sluice/testkit'
import { askRandomly } from '../../adapters/random-requests.ts'
import { type AppOptions, platforms } from '../nest-app.ts'
import { onSite } from '../site.ts'

@Controller('teams/:team')
class Teams {
  @Get('members/:id')
  member(): string {
    return 'a member'
  }

  @Post('members/:id')
  change(): string {
    return 'changed'
  }

  @Head('head/:id')
  head(): void {}

  @All('all/:id')
  all(): string {
    return 'all'
  }

  @Get('versions/:id')
  @Version(['1', '2'])
  versions(): string {
    return 'versions'
  }
}

/** Receives the keys. */
let waiting: (() => void)[] = []
const held = async (): Promise<string> => {
  await new Promise<void>((resolve) => waiting.push(resolve))
  return 'done'
}
const once1m = { limit: 1, window: '1m', key: byRoute() } as const
const cap = { name: 'cap', limit: 1, key: byRoute() } as const

@Controller('limited')
@RateLimit({ name: 'class', ...once1m })
class Limited {
  @Get('one/:id')
  one(): string {
    return 'one'
  }

  @Get('two')
  two(): string {
    return 'two'
  }

  @Post('two')
  change(): string {
    return 'changed'
  }

  @All('all')
  all(): string {
    return 'all'
  }

  @Get(['old', 'new'])
  both(): string {
    return 'both'
  }
}

@Controller('marked')
class Marked {
  @Get('one')
  @RateLimit('named')
  one(): string {
    return 'one'
  }

  @Get('two')
  @RateLimit('named')
  two(): string {
    return 'two'
  }

  @Get('work/:id')
  @InflightLimit(cap)
  work(): Promise<string> {
    return held()
  }

  @Get('work')
  @InflightLimit(cap)
  other(): Promise<string> {
    return held()
  }
}

function app(keys: Set<string>): AppOptions {
  const observers: Observer[] = [{ decided: (key) => keys.add(key) }]
  return {
    imports: [SluiceModule.forRoot({ rateLimit: { limit: 1_000_000, window: '1m', key: byRoute() }, observers })],
    controllers: [Teams],
    prepare: (made) => made.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI }),
  }
}

const PATHS = ['/members/*', '/head/*', '/all/*', '/*'].map((path) => `/api/teams/*${path}`)
const VERSIONS = ['/api/v1/teams/*/versions/*', '/api/v2/teams/*/versions/*', '/api/v3/teams/*/versions/*']
const EXPECTED = [
  'GET /api/teams/:team/members/:id',
  'POST /api/teams/:team/members/:id',
  'GET /api/teams/:team/head/:id',
  'GET /api/teams/:team/all/:id',
  'GET /api/v1/teams/:team/versions/:id',
  'GET /api/v2/teams/:team/versions/:id',
]

for (const platform of platforms) {
  describe(`a key by route, Nest ${process.env.NEST} on ${platform},`, () => {
    test('is a pattern of the application, whatever path a client sends', () => {
      const keys = new Set<string>()
      return onSite(platform, app(keys), async ({ port }) => {
        await eachSeed(2, (random) => askRandomly(port, [...PATHS, ...VERSIONS, '/*'], random, 320))
        assert.deepEqual([...keys].sort(), [...EXPECTED].sort())
      })
    })

    test('gives each route its own count of the limits of a class, and of a named policy', () => {
      const imports = [SluiceModule.forRoot({ policies: [{ name: 'named', ...once1m }] })]
      return onSite(platform, { imports, controllers: [Limited, Marked] }, async ({ ask }) => {
        const asked = ['GET one/1', 'GET one/2', 'HEAD one/3', 'GET two', 'POST two', 'GET two', 'PUT all', 'GET all']
        const seen: number[] = []
        for (const [method, path] of [...asked, 'GET old', 'GET new', 'GET old'].map((one) => one.split(' ')))
          seen.push((await ask(`/limited/${path}`, { method })).status)
        assert.deepEqual(seen, [200, 429, 429, 200, 201, 429, 200, 429, 200, 200, 429])
        const named: number[] = []
        for (const path of ['one', 'two', 'one']) named.push((await ask(`/marked/${path}`)).status)
        assert.deepEqual(named, [200, 200, 429])
      })
    })

    test('gives each route its own places of a cap', () => {
      const watcher = new Watcher()
      waiting = []
      const imports = [SluiceModule.forRoot({ policies: [{ name: 'named', ...once1m }], observers: [watcher] })]
      return onSite(platform, { imports, controllers: [Marked] }, async ({ statuses }) => {
        const first = statuses('/marked/work/1')
        await until(() => waiting.length === 1)
        const other = statuses('/marked/work')
        await until(() => waiting.length === 2)
        assert.deepEqual(await statuses('/marked/work/2', '/marked/work'), [503, 503])
        for (const goOn of waiting) goOn()
        assert.deepEqual([await first, await other], [[200], [200]])
        await until(() => watcher.held === 0)
      })
    })
  })
}
