import { describe, expect, test } from '@jest/globals'
import * as express from '@sluice/express'
import * as fastify from '@sluice/fastify'
import * as fetchAdapter from '@sluice/fetch'
import * as hono from '@sluice/hono'
import * as sharedByAll from '@sluice/http/shared'
import * as koa from '@sluice/koa'
import * as nest from '@sluice/nest'
import * as nodeHttp from '@sluice/node-http'
import * as words from '@sluice/node-http/shared'

/** Exports that are created separately for each framework. */
const LIMITERS = [
  ...['createSluice', 'explainClient', 'inflightLimit', 'rateLimit', 'shed', 'slowDown'],
  ...['InflightLimit', 'RateLimit', 'Shed', 'SlowDown'],
] as const

const OF_NEST = ['SkipLimits', 'SluiceDenied', 'SluiceFilter', 'SluiceGuard', 'SluiceInterceptor', 'SluiceModule']

const adapters: readonly (readonly [string, Readonly<Record<string, unknown>>, readonly string[]])[] = [
  ['node-http', nodeHttp, []],
  ['express', express, []],
  ['koa', koa, []],
  ['fastify', fastify, ['sluice', 'default']],
  ['nest', nest, OF_NEST],
]

describe.each(adapters)('@sluice/%s', (_name, exported, ofTheFramework) => {
  test('exports the names common to all adapters, its limiters, and the names specific to its framework', () => {
    const expected = [...Object.keys(words), ...LIMITERS, ...ofTheFramework]
    expect(Object.keys(exported).sort()).toEqual(expected.sort())
  })

  test('exports the same values under the common names', () => {
    for (const [word, value] of Object.entries(words)) expect({ word, value: exported[word] }).toEqual({ word, value })
  })
})

describe.each([
  ['fetch', fetchAdapter as Readonly<Record<string, unknown>>, ['sluiceOf']],
  ['hono', hono as Readonly<Record<string, unknown>>, []],
])('@sluice/%s', (_name, exported, ofTheAdapter) => {
  test('exports the names common to all servers, its limiters, and its own names', () => {
    const limiters = ['createSluice', 'explainClient', 'inflightLimit', 'rateLimit', 'shed', 'slowDown']
    const expected = [...Object.keys(sharedByAll), ...limiters, ...ofTheAdapter]
    expect(Object.keys(exported).sort()).toEqual(expected.sort())
    for (const [name, value] of Object.entries(sharedByAll))
      expect({ name, value: exported[name] }).toEqual({ name, value })
  })
})

test('each framework has its own limiters', () => {
  for (const word of LIMITERS) {
    expect(new Set(adapters.map(([, exported]) => exported[word])).size).toBe(adapters.length)
  }
})
