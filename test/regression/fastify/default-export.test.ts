import { describe, expect, test } from '@jest/globals'
import sluice, * as all from '@sluice/fastify'
import { fastify } from 'fastify'
import { fastify as fastify4 } from 'fastify4'

const options = { rateLimit: { limit: 1, window: '1m' } } as const

// what require('@sluice/fastify') returns, what a default import is, and what import('@sluice/fastify') resolves to
const plugins: Readonly<Record<string, () => unknown>> = {
  'the required module': () => all,
  'the default export': () => sluice,
  'the named export': () => all.sluice,
  'a promise of the module': () => import('@sluice/fastify'),
}

describe.each([
  ['Fastify 5', fastify],
  ['Fastify 4', fastify4 as unknown as typeof fastify],
] as const)('%s', (_name, create) => {
  test.each(Object.keys(plugins))('%s is registered like every plugin', async (name) => {
    const app = create()
    await app.register(plugins[name]() as typeof sluice, options)
    app.get('/', async () => 'hello')
    const answers = [await app.inject('/'), await app.inject('/')]
    await app.close()
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 429])
  })
})
