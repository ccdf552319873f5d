import { setTimeout as pause } from 'node:timers/promises'
import { InflightLimit, inflightLimit, RateLimit, SlowDown } from '@sluice/express'
import type { Request, Response } from 'express'

// created before the class, so that a handler can read the number of held permits
const builders = inflightLimit({ name: 'builders', limit: 2 })

/** Handlers of a small application. The limits of a method are shared by all instances. */
export class Reports {
  readonly #built: string[] = []

  @RateLimit({ name: 'list', limit: 5, window: '10s' })
  list(_req: Request, res: Response): void {
    res.json({ built: this.#built, building: builders.limiter.count() })
  }

  /** The rate is checked first; a permit is held until the promise settles, not only until the response is sent. */
  @RateLimit({ name: 'build', limit: 10, window: '1m' })
  @InflightLimit(builders)
  async build(req: Request<{ name: string }>, res: Response): Promise<void> {
    res.status(202).json({ building: req.params.name })
    await pause(300, undefined, { ref: false })
    this.#built.push(req.params.name)
  }

  @SlowDown({ name: 'search', after: 3, window: '10s', delayMs: '100ms', maxDelayMs: '1s' })
  search(req: Request, res: Response): void {
    res.json({ found: this.#built.filter((name) => name === req.query.name) })
  }
}
