import { allOf, andThen, type MaybePromise, type RequestView } from '@sluice/limiter-core/http'
import type { LimiterReport } from '../report/limiter-report.ts'
import type { SkipHook } from './options/gate-options.ts'
import { isSkipped } from './options/hook.ts'
import type { RatePlan } from './rate-plans.ts'

/**
 * The `skip` hooks of all layers that apply to a request. Each hook is called once per request and affects only the
 * policies of the layer that declares it.
 */
export class SkipHooks<Req> {
  readonly #hooks: readonly SkipHook<Req>[]
  /** Whether every policy has a hook. */
  readonly #coverAll: boolean

  constructor(plans: readonly RatePlan<Req, never>[]) {
    const hooks = plans.flatMap((plan) => plan.map(({ skip }) => skip))
    this.#hooks = [...new Set(hooks)].filter((hook) => hook !== undefined)
    this.#coverAll = !hooks.includes(undefined)
  }

  get isEmpty(): boolean {
    return this.#hooks.length === 0
  }

  /** Calls the hooks and returns the ones that skip the request, or undefined if every policy is skipped. */
  evaluate(view: RequestView<Req>, report: LimiterReport): MaybePromise<readonly SkipHook<Req>[] | undefined> {
    const results = this.#hooks.map((hook) => isSkipped(hook, view, report))
    return andThen(allOf(results), (skips) => {
      const skipping = this.#hooks.filter((_, index) => skips[index])
      return this.#coverAll && skipping.length === this.#hooks.length ? undefined : skipping
    })
  }
}
