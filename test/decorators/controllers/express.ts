import { type Clock, createSluice } from '@sluice/express'
import type { NextFunction, Request, Response } from 'express'
import type { Gate } from './gate.ts'

// in a function, so that each test has its own classes, limiters and clock
export function expressControllers(clock: Clock, gate: Gate) {
  const { InflightLimit, inflightLimit, RateLimit, rateLimit, SlowDown } = createSluice({ clock })
  const shared = rateLimit({ name: 'shared', limit: 2, window: '1m' })
  const strict = RateLimit({ limit: 1, window: '1m' })
  const places = inflightLimit({ name: 'places', limit: 1 })

  class Users {
    readonly name: string

    constructor(name: string) {
      this.name = name
    }

    @RateLimit({ limit: 2, window: '1m' })
    list(_req: Request, res: Response): void {
      res.send(`users of ${this.name}`)
    }

    @RateLimit({ limit: 2, window: '1m' })
    async find(req: Request<{ id: string }>, res: Response, _next: NextFunction): Promise<void> {
      await Promise.resolve()
      if (req.params.id === '0') throw new Error('no such user')
      res.send(`${req.params.id} of ${this.name}`)
    }

    @RateLimit({ name: 'outer', limit: 1, window: '1m' })
    @RateLimit({ name: 'inner', limit: 5, window: '1h' })
    stacked(_req: Request, res: Response): void {
      res.send('stacked')
    }

    @InflightLimit({ limit: 1 })
    async work(_req: Request, res: Response): Promise<void> {
      res.send('begun')
      await gate.open()
    }

    @InflightLimit(places)
    @RateLimit({ limit: 9, window: '1m' })
    async workOnAPlace(_req: Request, res: Response): Promise<void> {
      res.send('begun')
      await gate.open()
    }

    @SlowDown({ after: 1, window: '1m', delayMs: '1s', maxDelayMs: '2s' })
    slow(_req: Request, res: Response): void {
      res.send(`slow ${this.name}`)
    }

    @SlowDown({ after: 0, window: '1m', delayMs: '1s', maxDelayMs: '1s' })
    failLate(_req: Request, _res: Response, _next?: NextFunction): void {
      throw new Error('too late')
    }

    @RateLimit(shared)
    one(_req: Request, res: Response): void {
      res.send('one')
    }

    @RateLimit(shared)
    two(_req: Request, res: Response): void {
      res.send('two')
    }

    @strict
    three(_req: Request, res: Response): void {
      res.send('three')
    }

    @strict
    four(_req: Request, res: Response): void {
      res.send('four')
    }

    @RateLimit({ limit: 1, window: '1m' })
    static version(_req: Request, res: Response): void {
      // biome-ignore lint/complexity/noThisInStatic: whether it is kept is what a test asks
      res.send(`version of ${this === Users}`)
    }

    @RateLimit({ limit: 2, window: '1m', skip: (req) => req.query.free !== undefined })
    passOn(_req: Request, _res: Response, next: NextFunction): void {
      next()
    }

    // callers inside the application may pass any arguments
    @RateLimit({ limit: 1, window: '1m' })
    greeting(_req?: Request, res?: Response): string {
      res?.send('hello')
      return `hello from ${this.name}`
    }
  }

  class Inheriting extends Users {}

  class Overriding extends Users {
    override list(_req: Request, res: Response): void {
      res.send('free')
    }

    @RateLimit({ name: 'own', limit: 3, window: '1m' })
    override one(_req: Request, res: Response): void {
      res.send('own')
    }

    override two(req: Request, res: Response): void {
      super.two(req, res)
    }

    @RateLimit({ name: 'above', limit: 3, window: '1m' })
    override stacked(req: Request, res: Response): void {
      super.stacked(req, res)
    }
  }

  return { Users, Inheriting, Overriding, shared, places }
}
