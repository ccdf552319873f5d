import { type Clock, createSluice } from '@sluice/koa'
import type { Context, Next } from 'koa'
import type { Gate } from './gate.ts'

export function koaControllers(clock: Clock, gate: Gate) {
  const { InflightLimit, RateLimit, SlowDown } = createSluice({ clock })

  class Users {
    readonly name = 'Koa'

    @RateLimit({ name: 'outer', limit: 2, window: '1m' })
    @RateLimit({ name: 'inner', limit: 5, window: '1m' })
    list(ctx: Context): void {
      ctx.body = `users of ${this.name}`
    }

    @InflightLimit({ limit: 1 })
    async work(ctx: Context): Promise<void> {
      ctx.body = 'begun'
      ctx.respond = false
      ctx.res.end('begun')
      await gate.open()
    }

    @SlowDown({ after: 1, window: '1m', delayMs: '1s', maxDelayMs: '2s' })
    async slow(ctx: Context, next: Next): Promise<void> {
      await next()
      ctx.body = `slow ${this.name}`
    }

    @RateLimit({ limit: 2, window: '1m' })
    async fail(_ctx: Context): Promise<void> {
      throw new Error('failed')
    }
  }
  return Users
}
