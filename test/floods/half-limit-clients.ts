import type { Decision, Limiter, PolicyInput } from '@sluice/limiter-core'
import { planLimiters } from './plan-limiters.ts'
import { KIB, type Scene, scene } from './scene.ts'

const HOUR_MS = 3_600_000
const CLIENTS_AN_HOUR = 6_000
const FLOOD_KEYS = 20_000

/** Clients that each appear once and spend half of a limit of ten per hour, many more than memory holds. */
export class HalfLimitClients {
  readonly #clock: Scene['clock']
  readonly #limiters: readonly Limiter<Decision>[]
  #clients = 0

  /** Plans, assigned to clients in turn. */
  constructor(plans: readonly PolicyInput[]) {
    const { backend, clock } = scene([{ limit: 1, window: '1s' }], 64 * KIB)
    this.#clock = clock
    this.#limiters = planLimiters(plans, { backend, clock })
  }

  /** Keys that each spend ten units at once. */
  flood(): void {
    for (let key = 0; key < FLOOD_KEYS; key++) this.#limiters[0].take(`flood ${key}`, 10)
  }

  /** Share of the clients of the next hour that is denied. */
  deniedInNextHour(): number {
    let denied = 0
    for (let client = 0; client < CLIENTS_AN_HOUR; client++) {
      this.#clock.advance(HOUR_MS / CLIENTS_AN_HOUR)
      const limiter = this.#limiters[client % this.#limiters.length]
      if (!limiter.take(`client ${this.#clients++}`, 5).allowed) denied++
    }
    return denied / CLIENTS_AN_HOUR
  }
}
