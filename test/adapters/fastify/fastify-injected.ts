import { type FastifyRouteLimits, type FastifySluiceOptions, sluice } from '@sluice/fastify'
import type { FastifyInstance, FastifyServerOptions, fastify } from 'fastify'
import { endedAfterEach } from '../../services/for-tests.ts'

export type Make = (options?: FastifyServerOptions) => FastifyInstance

/** Applications to close after each test. */
export function opened(make: typeof fastify): Make {
  const open = endedAfterEach<FastifyInstance>((one) => one.close())
  return (options = {}) => {
    const made = make(options)
    open.push(made)
    return made
  }
}

/** Sends requests one after the other, each given as `/path` or `METHOD /path`. */
export async function statuses(app: FastifyInstance, ...asked: readonly string[]): Promise<number[]> {
  const all: number[] = []
  for (const one of asked) {
    const [url, method = 'GET'] = one.split(' ').reverse()
    all.push((await app.inject({ url, method: method as 'GET' })).statusCode)
  }
  return all
}

/** Builds an application with the plugin. Default limit: one request per minute. */
export async function limited(
  app: FastifyInstance,
  options: FastifySluiceOptions = { rateLimit: { limit: 1, window: '1m' } },
): Promise<FastifyInstance> {
  await app.register(sluice, options)
  return app
}

/** Route options with this `sluice` config. */
export function limits(said: FastifyRouteLimits): { config: { sluice: FastifyRouteLimits } } {
  return { config: { sluice: said } }
}
