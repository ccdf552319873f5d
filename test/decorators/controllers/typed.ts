import { InflightLimit, inflightLimit, RateLimit, rateLimit, SlowDown } from '@sluice/express'
import { type LimitDecorator, RateLimit as PlainRateLimit } from '@sluice/node-http'
import type { NextFunction, Request, Response } from 'express'

interface SignedIn extends Request {
  user: { id: string }
}

const plan = { limit: 1, window: '1m' } as const
const strict: LimitDecorator<readonly [Request, Response, NextFunction]> = RateLimit(plan)

// @ts-expect-error methods can be decorated, classes cannot
@RateLimit(plan)
class Whole {}

/** Uses that the types accept and reject, the same under every compiler setting. */
export class Typed {
  readonly whole: Whole = new Whole()

  @RateLimit(plan)
  nothing(): void {}

  @RateLimit({ ...plan, key: (req) => req.get('x-user') })
  narrower(_req: SignedIn, _res: Response<{ id: string }>): void {}

  @strict
  async named(_req: Request<{ id: string }>, _res: Response, _next: NextFunction): Promise<number> {
    return 1
  }

  @RateLimit(rateLimit(plan))
  @InflightLimit({ limit: 1 })
  @SlowDown({ after: 1, window: '1m', delayMs: 1, maxDelayMs: 2 })
  static all(_req: Request, _res: Response): string {
    return ''
  }

  @PlainRateLimit(plan)
  plain(_req: import('node:http').IncomingMessage, _res: import('node:http').ServerResponse): void {}

  // @ts-expect-error the first parameter is not a request
  @RateLimit(plan)
  byId(_id: number): void {}

  // @ts-expect-error an error handler
  @RateLimit(plan)
  failed(_error: Error, _req: Request, _res: Response, _next: NextFunction): void {}

  // @ts-expect-error not a method
  @RateLimit(plan)
  get size(): number {
    return 0
  }

  // @ts-expect-error the field does not hold a handler
  @RateLimit(plan)
  count = 3

  // @ts-expect-error an option name of another library
  @RateLimit({ limit: 1, windowMs: 60_000 })
  misspelt(_req: Request, _res: Response): void {}

  // @ts-expect-error a cap is not a rate limit
  @RateLimit(inflightLimit({ limit: 1 }))
  mixed(_req: Request, _res: Response): void {}

  // @ts-expect-error without options
  @RateLimit
  bare(_req: Request, _res: Response): void {}
}
