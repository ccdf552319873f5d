import {
  allOf,
  andThen,
  type Clock,
  type Decision,
  type Duration,
  type HeaderEntry,
  type HeaderLine,
  headerLines,
  type MaybePromise,
  warnOnce,
} from '@sluice/limiter-core/http'
import type { SettleContext } from '../gates/options/cost-source.ts'
import type { RequestHold, RequestSluice } from '../gates/request-sluice.ts'
import type { LimiterReport } from '../report/limiter-report.ts'
import { exhaustedEvent } from './exhausted-event.ts'
import { type NamedLimiter, type ShownCheck, withDistinctNames } from './shown-names.ts'
import { StreamBudget } from './stream-budget.ts'
import {
  type AnyCheck,
  extend,
  guarded,
  holdsCost,
  move,
  nameOf,
  reportOutcome,
  settle,
  spendHeld,
  type Taken,
  wasTaken,
} from './taken.ts'
import { vendorLines } from './vendor-lines.ts'

/** A policy that counted the request, by its index in the plan. */
interface CountedPolicy {
  readonly taken: Taken
  readonly index: number
}

const NONE: readonly never[] = []

/** Adds an item to a list. An array that grows from nothing, also by a spread, has room for 17 items. */
function extended<T>(list: readonly T[], item: T): readonly T[] {
  return list.length === 0 ? [item] : list.concat([item])
}

/** The results of all limiters that checked one request, behind `req.sluice`. Adapters add the end of the request. */
export abstract class RequestRecord implements RequestSluice {
  #taken: readonly Taken[] = NONE
  /** Number of limiters, counted from the first, whose costs have been settled. */
  #settled = 0
  #entries: readonly HeaderEntry[] = NONE
  #met: readonly NamedLimiter[] = NONE
  /** Number of limiters, counted from the first, that may check the request again without a warning. */
  #expected = 0
  #exhausted: AbortController | undefined

  /** Header lines of all limiters so far, if none has denied the request. */
  shownLines: readonly HeaderLine[] = NONE

  get decisions(): readonly Decision[] {
    return this.#taken.filter(({ silent }) => !silent).map(({ check }) => check.decision)
  }

  get decision(): Decision | undefined {
    return this.decisions.reduce<Decision | undefined>((a, b) => (a && !moreRestrictive(b, a) ? a : b), undefined)
  }

  charge(units: number, policy?: string): MaybePromise<void> {
    const charge = (taken: Taken, index: number): MaybePromise<unknown> =>
      units < 0 && !wasTaken(taken, index) ? undefined : move(taken, index, units)
    return this.#each('charge', policy, charge)
  }

  refund(policy?: string): MaybePromise<void> {
    return this.settle(0, policy)
  }

  reset(policy?: string): MaybePromise<void> {
    return this.#each('reset', policy, ({ check }, index) =>
      check.gate.limiter.resetOne(index, check.keys[index] as string),
    )
  }

  ban(duration: Duration, policy?: string): MaybePromise<void> {
    const counted = this.#counted(policy)
    const banning = counted.filter(({ taken, index }) => taken.check.gate.plan[index].ban)
    const ban = ({ check }: Taken, index: number): MaybePromise<void> =>
      check.gate.limiter.bans.banOne(index, check.keys[index] as string, duration)
    // without a policy that bans keys, the call fails and is reported
    return this.#each('ban', policy, ban, banning.length > 0 ? banning : counted)
  }

  settle(actual: number, policy?: string): MaybePromise<void> {
    return this.#each('settle', policy, (taken, index) => settle(taken, index, actual))
  }

  extend(units: number, policy?: string): MaybePromise<boolean> {
    const held = this.#taken.filter(({ check }) => check.hold)
    if (policy !== undefined && !held.some((taken) => holdsCost(taken, policy))) this.#notCounted('extend', policy)
    return andThen(allOf(held.map((taken) => extend(taken, units, policy))), (all) => !all.includes(false))
  }

  get hold(): RequestHold | undefined {
    if (!this.#taken.some(({ check }) => check.hold)) return undefined
    return {
      extend: (units, policy) => this.extend(units, policy),
      settle: (actual, policy) => this.#settleHeld(actual, policy),
      release: (policy) => this.#settleHeld(0, policy),
    }
  }

  used(units: number, policy?: string): MaybePromise<boolean> {
    const streams = this.#taken.flatMap(({ stream }) => stream ?? [])
    if (policy !== undefined && !streams.some((stream) => stream.has(policy))) this.#notCounted('used', policy)
    return andThen(allOf(streams.map((stream) => stream.add(units, policy))), (all) => !all.includes(false))
  }

  get exhausted(): AbortSignal {
    return this.#exhaustion.signal
  }

  abstract holdUntil(work: PromiseLike<unknown>): void

  /** Called when `shownLines` is not empty. Ensures that the response shows no fields of other limits beside them. */
  protected keepFields(): void {}

  /**
   * Returns false if `limiter` has already checked this request. The request is then not counted again, and a warning
   * is issued once, unless the second check was expected.
   */
  registerLimiter(limiter: NamedLimiter): boolean {
    const at = this.#met.indexOf(limiter)
    if (at < 0) {
      this.#met = extended(this.#met, limiter)
      return true
    }
    if (at >= this.#expected) {
      limiter.report.warnOnce(
        'SLUICE_LIMITER_TWICE',
        () => 'it ran twice for the same request, which was counted once; mount it only once on each route',
      )
    }
    return false
  }

  /**
   * Lets the limiters that have run so far, ahead of the application (`Expect: 100-continue`), run again inside it
   * without counting the request twice and without a warning.
   */
  allowSecondRun(): void {
    this.#expected = this.#met.length
  }

  /** Records a counted request. `silent` hides a decision that neither allows nor denies. */
  recordTaken(check: AnyCheck, report: LimiterReport, silent = false): void {
    this.#taken = extended(this.#taken, { check, report, silent })
  }

  /**
   * Extends the hold of the check that was recorded last while its response streams. `cutOff` ends the response when
   * no more units fit.
   */
  extendWhileStreaming(clock: Clock, cutOff?: (lastEvent: string) => void): void {
    const taken = this.#taken[this.#taken.length - 1]
    const { check, report } = taken
    if (!check.hold) return
    taken.stream = new StreamBudget(check.hold, check, {
      report,
      clock,
      isSettled: (policy) => taken.settled?.has(policy) === true,
      onExhausted: (policies) => {
        this.#exhaustion.abort()
        cutOff?.(exhaustedEvent(policies))
      },
    })
  }

  /** Returns the header content and the denial of a limiter, with names that no earlier limiter of the request uses. */
  namedApart(limiter: NamedLimiter, check: ShownCheck): ShownCheck {
    return this.#met.length > 1 ? withDistinctNames(this.#met, limiter, check) : check
  }

  /** Records the header content of a limiter, and returns the header lines of all limiters so far. */
  headersFor({ entries, denial }: ShownCheck, wallMs: () => number): readonly HeaderLine[] {
    this.#entries = this.#entries.length === 0 ? entries : this.#entries.concat(entries)
    let lines = headerLines(this.#entries, wallMs)
    // most responses have no fields of vendors
    for (const { plan } of this.#entries) {
      if (plan.vendors.length === 0) continue
      lines = [...lines, ...vendorLines(this.#entries, denial, wallMs)]
      break
    }
    this.shownLines = denial ? NONE : lines
    if (this.shownLines.length > 0) this.keepFields()
    return lines
  }

  /**
   * Calls the `settle` hooks of the policies after the response has ended, and reports its outcome to policies whose bans
   * depend on it. Resolves when all costs are settled. A further call settles the costs that have been taken since.
   */
  async settleAll(request: unknown, response: unknown, how: SettleContext): Promise<void> {
    const pending: MaybePromise<void>[] = []
    const unsettled = this.#taken.slice(this.#settled)
    this.#settled = this.#taken.length
    for (const taken of unsettled) {
      taken.stream?.end()
      if (!taken.check.decision.allowed) continue
      pending.push(...reportOutcome(taken, how))
      taken.check.gate.plan.forEach(({ cost }, index) => {
        if (taken.check.keys[index] === undefined) return
        const hook = cost.settle as
          | ((req: unknown, res: unknown, how: SettleContext) => MaybePromise<number>)
          | undefined
        if (!hook || request === undefined || !(how.completed || cost.settleAlways)) return
        // the application has already settled the cost
        if (taken.settled?.has(nameOf(taken, index))) return
        const used = taken.stream?.usedOf(nameOf(taken, index))
        const settling = guarded('settle', taken.report, () =>
          andThen(hook(request, response, { ...how, used }), (actual) =>
            actual === undefined ? undefined : settle(taken, index, actual),
          ),
        )
        pending.push(settling)
      })
    }
    await Promise.all(pending)
    await Promise.all(unsettled.map(spendHeld))
  }

  get #exhaustion(): AbortController {
    this.#exhausted ??= new AbortController()
    return this.#exhausted
  }

  #settleHeld(actual: number, policy: string | undefined): MaybePromise<void> {
    const isHeld = policy === undefined || this.#taken.some((taken) => holdsCost(taken, policy))
    if (!isHeld) return this.#notCounted('hold.settle', policy)
    return this.#each('settle', policy, (taken, index) =>
      holdsCost(taken, nameOf(taken, index)) ? settle(taken, index, actual) : undefined,
    )
  }

  /** Returns the policies that counted the request: the one with this name, or all. */
  #counted(policy: string | undefined): CountedPolicy[] {
    return this.#taken.flatMap((taken) =>
      taken.check.keys.flatMap((key, index) => {
        const isMeant = policy === undefined || nameOf(taken, index) === policy
        return key !== undefined && isMeant ? [{ taken, index }] : []
      }),
    )
  }

  #each(
    what: string,
    policy: string | undefined,
    run: (taken: Taken, index: number) => MaybePromise<unknown>,
    counted: readonly CountedPolicy[] = this.#counted(policy),
  ): MaybePromise<void> {
    if (counted.length === 0 && policy !== undefined) this.#notCounted(what, policy)
    const done = counted.map(({ taken, index }) => guarded(what, taken.report, () => run(taken, index)))
    return andThen(allOf(done), () => undefined)
  }

  /** The warning is issued by the limiter that ran last, which is nearest to the handler. */
  #notCounted(what: string, policy: string): void {
    const counting = (): string =>
      this.#taken
        .flatMap((taken) => taken.check.keys.flatMap((key, index) => (key === undefined ? [] : nameOf(taken, index))))
        .join(', ')
    const message = (): string =>
      `${what}: policy '${policy}' did not count this request (counted by: ${counting() || 'no policy'})`
    const nearest = this.#met.at(-1)
    if (nearest) nearest.report.warnOnce('SLUICE_UNKNOWN_POLICY', message, policy)
    else warnOnce('SLUICE_UNKNOWN_POLICY', message, policy)
  }
}

// enforced before shadow, denied before allowed, then the smaller fraction left, as within a decision
function moreRestrictive(a: Decision, b: Decision): boolean {
  if (a.binding.shadow !== b.binding.shadow) return b.binding.shadow
  if (a.allowed !== b.allowed) return b.allowed
  return a.binding.remaining / a.binding.policy.limit < b.binding.remaining / b.binding.policy.limit
}
