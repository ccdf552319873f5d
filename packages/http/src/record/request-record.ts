import {
  allOf,
  andThen,
  type Decision,
  type HeaderEntry,
  type HeaderLine,
  type HttpDenial,
  headerLines,
  isPromise,
  type LimiterReport,
  type MaybePromise,
  type Outcome,
  warnOnce,
  wholeCostOfRequest,
} from '@sluice/limiter-core/http'
import { FAILED_FROM, type SettleContext } from '../gates/options/cost-source.ts'
import { needsOutcome } from '../gates/plan-gate.ts'
import type { RateCheck } from '../gates/rate-check.ts'
import type { RequestSluice } from '../gates/request-sluice.ts'
import { type NamedLimiter, type ShownCheck, withDistinctNames } from './shown-names.ts'
import { vendorLines } from './vendor-lines.ts'

/** A check of any framework. Its hooks are only called with the request and response of that framework. */
type AnyCheck = RateCheck<never, never>

/** A request that one limiter counted. */
interface Taken {
  readonly check: AnyCheck
  readonly report: LimiterReport
  /** Whether the decision is hidden from handlers, because it neither allows nor denies. */
  readonly silent: boolean
  /** Names of the policies whose final cost is known. */
  settled?: Set<string>
}

/** Header lines and the denial that belongs to them. */
interface ShownLines {
  readonly denial: HttpDenial | undefined
  readonly lines: HeaderLine[]
}

const NONE: readonly never[] = []

/** The results of all limiters that checked one request, behind `req.sluice`. Adapters add the end of the request. */
export abstract class RequestRecord implements RequestSluice {
  // copied instead of extended, because an array that grows from nothing has room for 17 items
  #taken: readonly Taken[] = NONE
  #entries: readonly HeaderEntry[] = NONE
  #met: readonly NamedLimiter[] = NONE
  /** Number of limiters, counted from the first, that may check the request again without a warning. */
  #expected = 0

  get decisions(): readonly Decision[] {
    return this.#taken.filter(({ silent }) => !silent).map(({ check }) => check.decision)
  }

  get decision(): Decision | undefined {
    return this.decisions.reduce<Decision | undefined>((a, b) => (a && !moreRestrictive(b, a) ? a : b), undefined)
  }

  charge(units: number, policy?: string): MaybePromise<void> {
    return this.#each('charge', policy, (taken, index) => move(taken, index, units))
  }

  refund(policy?: string): MaybePromise<void> {
    return this.settle(0, policy)
  }

  reset(policy?: string): MaybePromise<void> {
    return this.#each('reset', policy, ({ check }, index) =>
      check.gate.limiter.resetOne(index, check.keys[index] as string),
    )
  }

  settle(actual: number, policy?: string): MaybePromise<void> {
    return this.#each('settle', policy, (taken, index) => settle(taken, index, actual))
  }

  extend(units: number, policy?: string): MaybePromise<boolean> {
    const held = this.#taken.filter(({ check }) => check.hold)
    if (policy !== undefined && !held.some((taken) => holdsCost(taken, policy))) this.#notCounted('extend', policy)
    return andThen(allOf(held.map((taken) => extend(taken, units, policy))), (all) => !all.includes(false))
  }

  abstract holdUntil(work: PromiseLike<unknown>): void

  /**
   * Returns false if `limiter` has already checked this request. The request is then not counted again, and a warning
   * is issued once, unless the second check was expected.
   */
  registerLimiter(limiter: NamedLimiter): boolean {
    const at = this.#met.indexOf(limiter)
    if (at < 0) {
      this.#met = [...this.#met, limiter]
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
    this.#taken = [...this.#taken, { check, report, silent }]
  }

  /** Records the header content of a limiter, and returns the header lines of all limiters so far. */
  headersFor(limiter: NamedLimiter, shown: ShownCheck, wallMs: () => number): ShownLines {
    const { entries, denial } = this.#met.length > 1 ? withDistinctNames(this.#met, limiter, shown) : shown
    this.#entries = [...this.#entries, ...entries]
    const lines = headerLines(this.#entries, wallMs)
    // most responses have no fields of vendors
    for (const { plan } of this.#entries) {
      if (plan.vendors.length > 0) return { denial, lines: [...lines, ...vendorLines(this.#entries, denial, wallMs)] }
    }
    return { denial, lines }
  }

  /**
   * Calls the `settle` hooks of the policies after the response has ended, and reports its outcome to policies whose bans
   * depend on it. Resolves when all costs are settled.
   */
  async settleAll(request: unknown, response: unknown, how: SettleContext): Promise<void> {
    const pending: MaybePromise<void>[] = []
    for (const taken of this.#taken) {
      if (!taken.check.decision.allowed) continue
      pending.push(...reportOutcome(taken, how))
      taken.check.gate.plan.forEach(({ cost }, index) => {
        if (taken.check.keys[index] === undefined) return
        const hook = cost.settle as
          | ((req: unknown, res: unknown, how: SettleContext) => MaybePromise<number>)
          | undefined
        if (!hook || !(how.completed || cost.settleAlways)) return
        // the application has already settled the cost
        if (taken.settled?.has(nameOf(taken, index))) return
        const settling = guarded('settle', taken.report, () =>
          andThen(hook(request, response, how), (actual) =>
            actual === undefined ? undefined : settle(taken, index, actual),
          ),
        )
        pending.push(settling)
      })
    }
    await Promise.all(pending)
    await Promise.all(this.#taken.map(spendHeld))
  }

  #each(
    what: string,
    policy: string | undefined,
    run: (taken: Taken, index: number) => MaybePromise<unknown>,
  ): MaybePromise<void> {
    let found = false
    const pending: Promise<void>[] = []
    for (const taken of this.#taken) {
      taken.check.keys.forEach((key, index) => {
        if (key === undefined) return
        if (policy !== undefined && nameOf(taken, index) !== policy) return
        found = true
        const done = guarded(what, taken.report, () => run(taken, index))
        if (isPromise(done)) pending.push(done)
      })
    }
    if (!found && policy !== undefined) this.#notCounted(what, policy)
    return pending.length > 0 ? Promise.all(pending).then(() => undefined) : undefined
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

/** Reports how a request ended to the policies of a limiter whose bans depend on it. */
function reportOutcome({ check, report }: Taken, how: SettleContext): MaybePromise<void>[] {
  const outcome = outcomeOf(how)
  if (!outcome) return []
  const { plan, limiter } = check.gate
  return plan.flatMap(({ ban }, index) => {
    const key = check.keys[index]
    if (key === undefined || !needsOutcome(ban?.terms)) return []
    return [guarded('report', report, () => limiter.reportOne(index, key, outcome))]
  })
}

/** Returns how a request ended; undefined if it is not known. */
function outcomeOf({ status, completed }: SettleContext): Outcome | undefined {
  if (status === undefined) return undefined
  if (status >= FAILED_FROM) return 'failure'
  // the client of an incomplete response may have disconnected to hide a failure
  return completed ? 'success' : undefined
}

function nameOf({ check }: Taken, index: number): string {
  return check.gate.plan[index].policy.name
}

function move({ check }: Taken, index: number, units: number): MaybePromise<unknown> {
  return check.gate.limiter.chargeOne(index, check.keys[index] as string, units, check.decision)
}

function settle(taken: Taken, index: number, actual: number): MaybePromise<unknown> {
  const name = nameOf(taken, index)
  if (taken.settled?.has(name) || !wasTaken(taken, index)) return undefined
  const final = wholeCostOfRequest(actual)
  taken.settled ??= new Set()
  taken.settled.add(name)
  if (taken.check.hold) return taken.check.hold.settleOne(name, final)
  const units = final - taken.check.costs[index]
  return units === 0 ? undefined : move(taken, index, units)
}

/** Whether the policy holds the cost of the request. */
function holdsCost({ check: { gate, keys } }: Taken, policy: string): boolean {
  return gate.plan.some((one, index) => one.policy.name === policy && one.policy.maxHoldMs && keys[index] !== undefined)
}

function extend({ check, report }: Taken, units: number, policy: string | undefined): MaybePromise<boolean> {
  const wants = ({ policy: { name, maxHoldMs } }: AnyCheck['gate']['plan'][number]): boolean =>
    policy === undefined ? maxHoldMs !== undefined : name === policy
  const more = Object.fromEntries(check.gate.plan.map((one) => [one.policy.name, wants(one) ? units : 0]))
  const failed = (error: unknown): boolean => {
    report.hookFailed('extend', error, 'no more units are held')
    return false
  }
  try {
    const done = check.hold?.extend(more) ?? true
    return isPromise(done) ? done.catch(failed) : done
  } catch (error) {
    return failed(error)
  }
}

/** Spends the units that are still held, which would return otherwise. */
async function spendHeld(taken: Taken): Promise<void> {
  const { hold, keys, costs } = taken.check
  if (!hold) return
  const spend = (index: number): MaybePromise<void> =>
    guarded('settle', taken.report, () => settle(taken, index, costs[index]))
  await Promise.all(keys.map((key, index) => (key === undefined ? undefined : spend(index))))
}

/** Whether the policy took units: none for a denied request, and for a shadow policy only if every policy allows. */
function wasTaken({ check: { decision, gate, chargedBeyond } }: Taken, index: number): boolean {
  if (chargedBeyond) return true
  if (!decision.allowed) return false
  const { name } = gate.plan[index].policy
  const isShadow = decision.verdicts.some(({ policy, shadow }) => shadow && policy.name === name)
  return !isShadow || decision.verdicts.every((verdict) => verdict.allowed)
}

function guarded(what: string, report: LimiterReport, run: () => MaybePromise<unknown>): MaybePromise<void> {
  const failed = (error: unknown): void => report.hookFailed(what, error, 'the units taken so far are kept')
  try {
    const done = run()
    return isPromise(done) ? Promise.resolve(done).then(() => undefined, failed) : undefined
  } catch (error) {
    failed(error)
  }
}

// enforced before shadow, denied before allowed, then the smaller fraction left, as within a decision
function moreRestrictive(a: Decision, b: Decision): boolean {
  if (a.binding.shadow !== b.binding.shadow) return b.binding.shadow
  if (a.allowed !== b.allowed) return b.allowed
  return a.binding.remaining / a.binding.policy.limit < b.binding.remaining / b.binding.policy.limit
}
