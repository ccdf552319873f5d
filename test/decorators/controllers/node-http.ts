import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, createSluice, type Next } from '@sluice/node-http'
import type { Gate } from './gate.ts'

export function nodeHttpControllers(clock: Clock, gate: Gate) {
  const { InflightLimit, RateLimit, SlowDown } = createSluice({ clock })
  class Users {
    readonly name = 'node:http'

    @RateLimit({ name: 'outer', limit: 2, window: '1m' })
    @RateLimit({ name: 'inner', limit: 5, window: '1m' })
    list(_req: IncomingMessage, res: ServerResponse): void {
      res.end(`users of ${this.name}`)
    }

    @InflightLimit({ limit: 1 })
    async work(_req: IncomingMessage, res: ServerResponse): Promise<void> {
      res.end('begun')
      await gate.open()
    }

    @SlowDown({ after: 1, window: '1m', delayMs: '1s', maxDelayMs: '2s' })
    slow(_req: IncomingMessage, res: ServerResponse, _next?: Next): void {
      res.end(`slow ${this.name}`)
    }

    @RateLimit({ limit: 2, window: '1m' })
    async fail(_req: IncomingMessage, _res: ServerResponse): Promise<void> {
      throw new Error('failed')
    }
  }
  return Users
}
