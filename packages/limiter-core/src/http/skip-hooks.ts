import { allOf, andThen } from '../contracts/maybe-promise.ts'
import type { MaybePromise, RequestView } from '../contracts.ts'
import { hearing } from '../keys/preflight.ts'
import type { LimiterReport } from '../observers/limiter-report.ts'
import { runHook } from './hook.ts'
import type { SkipHook } from './rate-limit-options.ts'
import type { RatePlan } from './rate-plans.ts'

/** The `skip` hooks of the parts whose policies are guarded together: each is asked once, for the policies of its part. */
export class SkipHooks<Req> {
  readonly #hooks: readonly SkipHook<Req>[]
  readonly #ofAll: boolean

  constructor(plans: readonly RatePlan<Req, never>[]) {
    const hooks = plans.flatMap((plan) => plan.map(({ skip }) => skip))
    this.#hooks = [...new Set(hooks)].filter((hook) => hook !== undefined)
    this.#ofAll = !hooks.includes(undefined)
  }

  get none(): boolean {
    return this.#hooks.length === 0
  }

  /** The hooks that skip the request; undefined where no policy is left that counts it. */
  asked(view: RequestView<Req>, report: LimiterReport): MaybePromise<readonly SkipHook<Req>[] | undefined> {
    const observers = hearing(view, report)
    const asked = this.#hooks.map((hook) => runHook('skip', () => hook(view.raw), Boolean, false, observers))
    return andThen(allOf(asked), (answers) => {
      const skipping = this.#hooks.filter((_, index) => answers[index])
      return this.#ofAll && skipping.length === this.#hooks.length ? undefined : skipping
    })
  }
}
