import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { Controller, Get, UseGuards } from '@nestjs/common'
import {
  byHeader,
  memoryBackend,
  type PlatformRequest,
  type PlatformResponse,
  RateLimit,
  rateLimit,
  SkipLimits,
  SluiceModule,
  type SluiceModuleOptions,
} from '@sluice/nest'
import { type PolicyOptions, policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { TextSource } from '../../policies/text-source.ts'
import { type Platform, platforms } from '../nest-app.ts'
import { onSite } from '../site.ts'

interface Document extends PolicyOptions<PlatformRequest, PlatformResponse> {
  /** Replaces the document, and waits until it applies or is refused. */
  change(...next: readonly object[]): Promise<void>
}

function documentOf(...given: readonly object[]): Document {
  const textOf = (list: readonly object[]): string => JSON.stringify({ version: 1, policies: list })
  const source = new TextSource(textOf(given))
  const options = policies<PlatformRequest, PlatformResponse>(source, {
    attributes: { user: ({ headers }) => headers['x-user'] },
  })
  const change = async (...next: readonly object[]): Promise<void> => {
    source.text = textOf(next)
    await options.policies.reload()
  }
  return { ...options, change }
}

const users = (limit: number, per: string): object => ({ name: 'users', key: 'user', limit, per })

/** A way of an application to use a document. */
interface Place {
  readonly options?: (loaded: Document) => SluiceModuleOptions
  readonly decorator?: (loaded: Document) => MethodDecorator & ClassDecorator
  readonly onClass?: boolean
}

const places: Readonly<Record<string, Place>> = {
  'the module': { options: ({ policies }) => ({ rateLimit: { policies } }) },
  'the module, above a limit of a method': {
    options: ({ policies }) => ({ rateLimit: { policies } }),
    decorator: () => RateLimit({ name: 'own', limit: 1_000, window: '1m' }),
  },
  'the module, above a method that skips another policy': {
    options: ({ policies }) => ({ rateLimit: { policies } }),
    decorator: () => SkipLimits('other'),
  },
  'a class': { decorator: ({ policies }) => RateLimit({ policies }), onClass: true },
  'a method': { decorator: ({ policies }) => RateLimit({ policies }) },
  'a method below a limit of the module': {
    options: () => ({ rateLimit: { limit: 1_000, window: '1m' } }),
    decorator: ({ policies }) => RateLimit({ policies }),
  },
  'a guard of its own': { decorator: ({ policies }) => UseGuards(rateLimit({ policies })) },
}

async function onPlace(
  platform: Platform,
  { options, decorator, onClass }: Place,
  loaded: Document,
  visit: (get: (user: string) => Promise<{ status: number; limits: string | null }>) => Promise<void>,
): Promise<void> {
  class Search {
    search(): string {
      return 'found'
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Search.prototype, 'search') as PropertyDescriptor
  Get('search')(Search.prototype, 'search', descriptor)
  if (onClass) decorator?.(loaded)(Search)
  else decorator?.(loaded)(Search.prototype, 'search', descriptor)
  Controller()(Search)
  const module = SluiceModule.forRoot(options?.(loaded) ?? {})
  await onSite(platform, { imports: [module], controllers: [Search] }, ({ ask }) =>
    visit(async (user) => {
      const { status, headers } = await ask('/search', { headers: { 'x-user': user } })
      return { status, limits: headers.get('ratelimit-policy') }
    }),
  )
}

const emitWarning = process.emitWarning
afterEach(() => {
  process.emitWarning = emitWarning
})

for (const platform of platforms) {
  describe(`policies of a document, Nest ${process.env.NEST} on ${platform}`, () => {
    for (const [name, place] of Object.entries(places)) {
      test(`limit requests and change: ${name}`, async () => {
        const loaded = documentOf(users(1, '1m'))
        await onPlace(platform, place, loaded, async (get) => {
          const statuses = async (...names: readonly string[]): Promise<number[]> => {
            const all: number[] = []
            for (const one of names) all.push((await get(one)).status)
            return all
          }
          assert.deepEqual(await statuses('anna', 'anna', 'ben'), [200, 429, 200])
          await loaded.change(users(2, '1m'))
          assert.deepEqual(await statuses('anna', 'anna'), [200, 429])
          await loaded.change(users(3, '1h'))
          assert.deepEqual(await statuses('anna', 'anna'), [200, 429])
        })
      })
    }

    test('read the route of a handler', async () => {
      const loaded = documentOf(
        { name: 'search', match: { route: 'GET /search' }, limit: 1, per: '1m' },
        { name: 'other', match: { route: 'GET /other' }, limit: 1, per: '1m' },
      )
      await onPlace(platform, places['the module'], loaded, async (get) => {
        assert.deepEqual(await get('anna'), { status: 200, limits: '"search";q=1;w=60' })
      })
    })

    test('are refused for all handlers if one of them cannot have them', async () => {
      const warnings: string[] = []
      process.emitWarning = (warning: string | Error) => void warnings.push(String(warning))
      const loaded = documentOf(users(5, '1m'))
      const backend = memoryBackend({ clock: new FakeClock() })
      const place: Place = {
        options: ({ policies }) => ({ rateLimit: { policies } }),
        decorator: () => RateLimit({ name: 'own', limit: 9, window: '1m', key: byHeader('x-user'), backend }),
      }
      await onPlace(platform, place, loaded, async (get) => {
        const before = (await get('anna')).limits
        const { open } = backend
        backend.open = () => {
          throw new Error('no room for counters')
        }
        await loaded.change(users(6, '1m'))
        assert.equal((await get('anna')).limits, before)
        assert.match(warnings.join(), /policies\.yaml were not replaced: Error: no room for counters/)
        backend.open = open
        await loaded.change(users(7, '1m'))
        assert.match((await get('anna')).limits ?? '', /"users";q=7;w=60/)
      })
    })

    test('have names of their own beside another limit of the same method', async () => {
      const loaded = documentOf(users(5, '1m'))
      const place: Place = {
        decorator:
          ({ policies }) =>
          (target: object, key?: string | symbol, descriptor?: PropertyDescriptor) => {
            RateLimit({ policies })(target, key as string, descriptor as PropertyDescriptor)
            RateLimit({ limit: 3, window: '1m' })(target, key as string, descriptor as PropertyDescriptor)
          },
      }
      await onPlace(platform, place, loaded, async (get) => {
        assert.deepEqual((await get('anna')).limits?.split(', ').sort(), ['"default";q=3;w=60', '"users";q=5;w=60'])
      })
    })
  })
}
