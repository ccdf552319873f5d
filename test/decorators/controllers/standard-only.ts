import { type Clock, createSluice } from '@sluice/express'
import type { Request, RequestHandler, Response } from 'express'

/** Members that only standard decorators can decorate: fields and private methods. */
export function standardControllers(clock: Clock) {
  const { RateLimit } = createSluice({ clock })

  class Users {
    readonly name: string

    constructor(name: string) {
      this.name = name
    }

    @RateLimit({ name: 'upper', limit: 1, window: '1m' })
    @RateLimit({ name: 'lower', limit: 5, window: '1h' })
    list = (_req: Request, res: Response): void => {
      res.send(`users of ${this.name}`)
    }

    @RateLimit({ limit: 1, window: '1m' })
    typed: RequestHandler = (_req, res) => {
      res.send(`typed of ${this.name}`)
    }

    @RateLimit({ limit: 1, window: '1m' })
    static version = (_req: Request, res: Response): void => {
      res.send('version')
    }

    @RateLimit({ limit: 1, window: '1m' })
    #find(_req: Request, res: Response): void {
      res.send(`found by ${this.name}`)
    }

    find(req: Request, res: Response): void {
      this.#find(req, res)
    }
  }
  return Users
}
