import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { FastifyRouteLimits } from '@sluice/fastify'
import { Warnings } from '@sluice/testkit'
import { fastify } from 'fastify'
import { limited, limits, opened, statuses } from '../../adapters/fastify/fastify-injected.ts'

const warnings = new Warnings()
const app = opened(fastify)
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

test.each<[string, FastifyRouteLimits]>([
  ['has an invalid limit and phase', { phase: 'preHandler', rateLimit: { limit: 0, window: '1m' } }],
  ['has an invalid phase', { phase: 'onSend' as never }],
  [
    'cannot be read',
    {
      get phase(): never {
        throw null
      },
    },
  ],
])(
  'a route config from before the plugin that %s is ignored, and its requests are limited like all others',
  async (_how, said) => {
    const made = app()
    let hooked = 0
    made.post('/', { ...limits(said), preValidation: async () => void hooked++ }, async () => 'ok')
    await limited(made)
    expect(await statuses(made, 'POST /', 'POST /')).toEqual([200, 429])
    // denied before the body is read, as configured by the application
    expect(hooked).toBe(1)
    expect(warnings.codes).toHaveLength(1)
  },
)
