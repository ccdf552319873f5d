import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { FastifyRouteLimits } from '@sluice/fastify'
import { Warnings } from '@sluice/testkit'
import { fastify } from 'fastify'
import { limited, limits, opened, statuses } from '../../adapters/fastify-injected.ts'

const warnings = new Warnings()
const app = opened(fastify)
beforeEach(() => warnings.listen())
afterEach(() => warnings.stop())

test.each<[string, FastifyRouteLimits]>([
  ['is bad, and its phase with it', { phase: 'preHandler', rateLimit: { limit: 0, window: '1m' } }],
  ['has a phase that is none', { phase: 'onSend' as never }],
  [
    'cannot be read',
    {
      get phase(): never {
        throw null
      },
    },
  ],
])(
  'a config from before the plugin that %s is ignored, and its requests are limited as all others',
  async (_how, said) => {
    const made = app()
    let hooked = 0
    made.post('/', { ...limits(said), preValidation: async () => void hooked++ }, async () => 'ok')
    await limited(made)
    expect(await statuses(made, 'POST /', 'POST /')).toEqual([200, 429])
    // denied before the body is read, as the application says
    expect(hooked).toBe(1)
    expect(warnings.codes).toHaveLength(1)
  },
)
