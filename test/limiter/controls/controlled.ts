import type { LimiterControls, ObservedLimiter, Observer, PolicyControl } from '@sluice/limiter-core'

/** An observer that controls the limiters it observes. */
export class Operator implements Observer {
  readonly limiters: ObservedLimiter[] = []

  limiterOpened(limiter: ObservedLimiter): void {
    this.limiters.push(limiter)
  }

  limiterClosed(limiter: ObservedLimiter): void {
    this.limiters.splice(this.limiters.indexOf(limiter), 1)
  }

  /** `blocked`: how long each key stays blocked, in ms. */
  setControls(policies: Readonly<Record<string, PolicyControl>>, blocked: Readonly<Record<string, number>> = {}): void {
    const controls: LimiterControls = {
      policies: new Map(Object.entries(policies)),
      blockedMs: (key) => blocked[key] ?? 0,
    }
    for (const limiter of this.limiters) limiter.control(controls)
  }

  release(): void {
    for (const limiter of this.limiters) limiter.control(undefined)
  }
}
