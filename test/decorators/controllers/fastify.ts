import { type Clock, createSluice } from '@sluice/fastify'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Gate } from './gate.ts'

export function fastifyControllers(clock: Clock, gate: Gate) {
  const { InflightLimit, RateLimit, SlowDown } = createSluice({ clock })

  class Users {
    readonly name = 'Fastify'

    @RateLimit({ name: 'outer', limit: 2, window: '1m' })
    @RateLimit({ name: 'inner', limit: 5, window: '1m' })
    async list(_request: FastifyRequest, _reply: FastifyReply): Promise<string> {
      return `users of ${this.name}`
    }

    @InflightLimit({ limit: 1 })
    async work(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
      reply.send('begun')
      await gate.open()
    }

    @SlowDown({ after: 1, window: '1m', delayMs: '1s', maxDelayMs: '2s' })
    slow(_request: FastifyRequest, reply: FastifyReply): void {
      reply.send(`slow ${this.name}`)
    }

    @RateLimit({ limit: 2, window: '1m' })
    async fail(_request: FastifyRequest<{ Params: { id: string } }>): Promise<void> {
      throw new Error('failed')
    }
  }
  return Users
}
