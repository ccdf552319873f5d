import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { peerNames } from '../docs/migrating-peers.ts'
import { namesOf, OWNERS, type Owner } from './owners.ts'

/** Number of mutations by kind. */
const counts: Record<string, number> = {}
beforeAll(() => {
  process.on('warning', () => {})
})
afterAll(() => {
  // a generator that searches nothing would pass
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(4_000)
})

interface Thrown {
  readonly code: unknown
  readonly message: string
}

/** What is thrown for options, or undefined. */
async function thrownBy(owner: Owner, options: unknown, kind: string): Promise<Thrown | undefined> {
  counts[kind] = (counts[kind] ?? 0) + 1
  try {
    const made: unknown = await owner.build(options)
    ;(made as { close?(): void } | undefined)?.close?.()
    return undefined
  } catch (error) {
    const { code, message } = error as Thrown
    return { code, message: `${message}` }
  }
}

const CODED = expect.stringMatching(/^SLUICE_/)

/** Whether the message says what to write instead of an option, before any list of options. */
function isHint(thrown: Thrown | undefined, name: string): boolean {
  const [, received] =
    /expected (?!one of )\S.*?, received an unknown option "([^"]+)"/.exec(thrown?.message ?? '') ?? []
  return thrown?.code === 'SLUICE_BAD_OPTION' && received === name
}

/** Names that differ from `name` in one letter, in its number or in its case. */
function misspelt(name: string, { whole, pick }: SeededRandom): readonly string[] {
  const at = whole(name.length - 1)
  const letter = pick([...'aeinrstx'])
  return [
    name.slice(0, at) + name.slice(at + 1),
    name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2),
    name.slice(0, at) + letter + name.slice(at + 1),
    name.slice(0, at) + letter + name.slice(at),
    name.endsWith('s') ? name.slice(0, -1) : `${name}s`,
    name.toLowerCase(),
    name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
  ]
}

/** Functions that are not in front of requests: sketches have no limiters, and backends other rules for their values. */
const OTHERS =
  /createRedis|Backend|redis[A-Z]|[sS]ketch|List$|of a list|^(?:Count|Estimator|Rate$|Inflight$|Hokusai|HyperLogLog|Redis|Space|Heavy|TDigest|.*Bloom)/
const all = Object.entries(OWNERS).filter(([name]) => name === 'memoryBackend' || !OTHERS.test(name))

describe.each(all)('%s', (where, owner) => {
  test('names the option that a misspelt name probably means, before the list of options', async () => {
    const names = (await namesOf(owner)).filter((name) => name.length > 3)
    const faults: string[] = []
    await eachSeed(1, async (random) => {
      for (const name of names) {
        for (const wrong of misspelt(name, random)) {
          if (names.includes(wrong) || wrong.length < 4 || name.startsWith('embedded')) continue
          const { [name]: value = 1, ...others } = { ...owner.base } as Record<string, unknown>
          const thrown = await thrownBy(owner, { ...others, [wrong]: value }, 'misspelt')
          if (!isHint(thrown, wrong)) faults.push(`${name} as ${wrong}: ${thrown?.message ?? 'accepted'}`)
        }
      }
    })
    expect(faults).toEqual([])
  })

  test('rejects what is not an object of options with a coded error', async () => {
    for (const value of [null, true, false, 5, 'text', [], [owner.base ?? {}], [1], Symbol('x'), 5n]) {
      // a fixed cost is a number, and Fastify replaces missing options by an object
      if ((where === 'cost' && value === 5) || (where === 'the plugin of Fastify' && !value)) continue
      const thrown = await thrownBy(owner, value, 'not an object')
      expect({ value, thrown }).toEqual({
        value,
        thrown: { code: CODED, message: expect.stringContaining('expected') },
      })
    }
  })

  test('rejects values of the wrong type with a coded error, and accepts none silently', async () => {
    const faults: string[] = []
    // adapters, not gates, check trusted proxies
    const names = (await namesOf(owner)).filter((name) => name !== 'trust' || !/^rateLimit(?: with|$)/.test(where))
    for (const name of names) {
      for (const value of WRONG_VALUES) {
        const thrown = await thrownBy(owner, { ...owner.base, [name]: value }, 'wrong type')
        const isCoded = /^SLUICE_/.test(String(thrown?.code))
        if (thrown ? !isCoded : isNothing(value))
          faults.push(`${name}: ${String(value)}: ${thrown?.message ?? 'accepted'}`)
      }
    }
    expect(faults).toEqual([])
  })
})

const WRONG_VALUES = [null, Number.NaN, Symbol('x'), 5n, 'no such value', -1.5, true, [], {}, () => undefined, [null]]

/** Values that no option accepts. */
function isNothing(value: unknown): boolean {
  return value === null || Number.isNaN(value) || typeof value === 'symbol' || typeof value === 'bigint'
}

describe('options of other limiters', () => {
  const LIBRARIES = [
    'express-rate-limit',
    'express-slow-down',
    'koa-ratelimit',
    '@fastify/rate-limit',
    '@nestjs/throttler',
    'hono-rate-limiter',
  ]
  const foreign = [
    ...new Set(peerNames.filter(({ library }) => LIBRARIES.includes(library)).flatMap(({ names }) => names)),
  ]

  test.each([
    'rateLimit of Express',
    'rateLimit of Koa',
    'the plugin of Fastify',
    'a route of Fastify',
    'the module of Nest',
  ])('have a counterpart in the message of %s', async (where) => {
    const owner = OWNERS[where]
    const names = await namesOf(owner)
    const without: string[] = []
    for (const name of foreign.filter((one) => !names.includes(one) && !NOT_OPTIONS.includes(one))) {
      const thrown = await thrownBy(owner, { ...owner.base, [name]: 1 }, 'other limiters')
      expect({ name, thrown }).toEqual({ name, thrown: { code: 'SLUICE_BAD_OPTION', message: expect.any(String) } })
      if (/expected one of/.test(thrown?.message ?? '')) without.push(name)
    }
    expect(without).toEqual([])
  })
})

/** Names of peers that are functions, classes, or properties of results. */
const NOT_OPTIONS: readonly string[] = [
  ...['MemoryStore', 'RedisStore', 'UnstorageStore', 'rateLimit', 'createRateLimit', 'rateLimiter', 'webSocketLimiter'],
  ...['getKey', 'resetKey', 'ipKeyGenerator', 'used', 'resetTime', 'delay', 'forRoot', 'forRootAsync', 'inject'],
  ...['InjectThrottlerOptions', 'InjectThrottlerStorage', 'SkipThrottle', 'Throttle', 'useFactory'],
  // an option of Koa's limiter, whose counterpart depends on the framework
  'throw',
  ...['handleRequest', 'getRequestResponse', 'setResponseHeader', 'throwThrottlingException'],
]

describe('an option of a limit next to its kind', () => {
  test.each(['limitUpgrade', 'guardContinue', 'the plugin of Fastify', 'a route of Fastify', 'the module of Nest'])(
    'is located by the message of %s',
    async (where) => {
      const owner = OWNERS[where]
      const names = await namesOf(owner)
      for (const [kind, made] of [
        ['rateLimit', 'rateLimit of Express'],
        ['inflightLimit', 'inflightLimit'],
      ] as const) {
        for (const name of (await namesOf(OWNERS[made])).filter((one) => !names.includes(one) && one !== 'next')) {
          const thrown = await thrownBy(owner, { ...owner.base, [name]: 1 }, 'nested')
          expect({ kind, name, message: thrown?.message }).toEqual({
            ...{ kind, name },
            message: expect.stringMatching(new RegExp(`expected ${name} in (rateLimit|inflightLimit): \\{ … \\}`)),
          })
        }
      }
    },
  )
})
