import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { All, Controller, Get, Head, Post, Version, VersioningType } from '@nestjs/common'
import { byRoute, type Observer, SluiceModule } from '@sluice/nest'
import { eachSeed } from '@sluice/testkit'
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
  })
}
