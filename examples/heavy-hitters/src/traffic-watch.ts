import { HyperLogLog, SpaceSaving, TDigest } from '@sluice/sketches'
import type { Request, RequestHandler } from 'express'

export interface Report {
  readonly requests: number
  /** Distinct clients, with a standard error of 0.8 %. */
  readonly clients: number
  /** Most active clients. Each count is at most `error` too high, and never too low. */
  readonly talkers: readonly { readonly key: string; readonly count: number; readonly error: number }[]
  /** Response times in milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Memory used in total, independent of the number of clients and requests. */
  readonly bytes: number
}

/** Tracks the busiest clients, the number of clients and response times, in a fixed few kilobytes. */
export class TrafficWatch {
  readonly #clientOf: (req: Request) => string
  readonly #talkers = new SpaceSaving({ capacity: 1_000 })
  readonly #clients = new HyperLogLog({ precision: 14 })
  readonly #waits = new TDigest({ compression: 100 })
  #requests = 0

  constructor(clientOf: (req: Request) => string) {
    this.#clientOf = clientOf
  }

  readonly middleware: RequestHandler = (req, res, next) => {
    const client = this.#clientOf(req)
    const startedAt = performance.now()
    this.#requests++
    this.#talkers.add(client)
    this.#clients.add(client)
    res.once('close', () => this.#waits.add(performance.now() - startedAt))
    next()
  }

  report(): Report {
    const bytes = [this.#talkers, this.#clients, this.#waits].reduce((sum, one) => sum + one.toBytes().length, 0)
    return {
      requests: this.#requests,
      clients: this.#clients.count(),
      talkers: this.#talkers.top(5),
      p50: this.#waits.quantile(0.5),
      p99: this.#waits.quantile(0.99),
      bytes,
    }
  }
}
