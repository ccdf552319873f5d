import {
  ALLOW_RULE,
  type AlgorithmName,
  type Answer,
  type Backend,
  type Charge,
  type Clock,
  type CompiledPolicy,
  type CountEstimate,
  type CountedKey,
  clockOf,
  type Decision,
  hasDenial,
  MemoryBackend,
  type Metric,
  type MetricSource,
  type Moment,
  markInfallible,
  type Observer,
  Observers,
  type PolicyVerdict,
  RequestDecision,
  SoleDecision,
} from '@sluice/limiter-core/backend'
import { maxLateMs } from './charge-late.ts'
import { LedgerOutage, type SilenceRule } from './ledger-outage.ts'
import { SyncExchange, type SyncExchangeDeps } from './sync-exchange.ts'
import type { SyncLedger } from './sync-ledger.ts'
import { SyncMetrics } from './sync-metrics.ts'
import type { SyncTerms } from './sync-terms.ts'
import { type SyncedCharge, SyncedCounter } from './synced-counter.ts'
import { checkSynced, SYNCED_ALGORITHMS } from './synced-policies.ts'
import { SyncedPolicy } from './synced-policy.ts'
import { UsageReports } from './usage-reports.ts'
import { waiting } from './waiting-verdict.ts'

/** Includes the share of a row in the table's unused capacity. */
const BYTES_PER_KEY = 128
const MIN_BYTES = 2 ** 20
export interface SyncingDeps {
  /** Value of `decision.source`. */
  readonly name: string
  /** Equal for all backends that share the same counts. */
  readonly identity?: object | undefined
  readonly ledger: SyncLedger
  readonly terms: SyncTerms
  readonly rule: SilenceRule
  /** Algorithms whose counts the ledger can add up. Default: `SYNCED_ALGORITHMS`. */
  readonly algorithms?: readonly AlgorithmName[] | undefined
  readonly clock?: Clock | undefined
  /** Source of random tick times. Default: `Math.random`. */
  readonly random?: (() => number) | undefined
}

/**
 * Decides synchronously, by the last known counts of all processes. Units that this process takes are reported to a
 * ledger shortly afterwards, and the reply contains the units of all processes. The ledger neither loses units nor
 * counts them twice. A limit is exceeded by at most the units that all processes take between two exchanges.
 */
export class SyncingBackend implements Backend<Answer>, MetricSource {
  readonly name: string
  readonly identity: object | undefined
  readonly synchronous = true
  readonly algorithms: readonly AlgorithmName[]
  readonly #ledger: SyncLedger
  readonly #terms: SyncTerms
  readonly #clock: Clock
  readonly #memory: MemoryBackend
  readonly #reports: UsageReports
  readonly #outage: LedgerOutage
  readonly #exchange: SyncExchange
  readonly #observers = new Observers()
  readonly #metrics = new SyncMetrics()
  #closing: Promise<void> | undefined

  constructor(deps: SyncingDeps) {
    const { name, identity, ledger, terms, rule, algorithms = SYNCED_ALGORITHMS, random } = deps
    const clock = clockOf(deps.clock)
    const observers = this.#observers
    const metrics = this.#metrics
    this.name = name
    this.identity = identity
    this.algorithms = algorithms
    this.#ledger = ledger
    this.#terms = terms
    this.#clock = clock
    const live = { name, counted: true }
    const memory = new MemoryBackend(Math.max(MIN_BYTES, terms.maxKeys * BYTES_PER_KEY), clock, live)
    this.#memory = memory
    const nodes = (): number => this.#reports.nodes
    this.#outage = new LedgerOutage({ memory, ledger, terms, rule, clock, nodes })
    const { health } = this.#outage
    this.#reports = new UsageReports({ memory, ledger, terms, clock, metrics })
    const { outbox } = this.#reports
    const answered: SyncExchangeDeps['answered'] = (...answer) => this.#reports.answered(...answer)
    const sending: SyncExchangeDeps['sending'] = (batch) => this.#reports.prepare(batch)
    const parts = { name, ledger, terms, clock, random, observers, outbox, metrics, sending, answered }
    this.#exchange = new SyncExchange({ ...parts, health })
    this.#reports.exchange = this.#exchange
    let evicted = 0
    this.#memory.observe({
      event: (event, { keys }) => {
        if (event !== 'evicted') return
        metrics.evictions.add(Number(keys) - evicted)
        evicted = Number(keys)
      },
    })
    markInfallible(this)
  }

  open(compiled: CompiledPolicy, name: string): SyncedCounter {
    checkSynced(this, compiled, this.#terms)
    const local = this.#memory.open(new SyncedPolicy(compiled, this.#terms), name)
    const counter = new SyncedCounter(this, local, () => this.#outage.closed(counter))
    this.#outage.opened(counter)
    return counter
  }

  /** `take` of a counter. */
  takeOne(counter: SyncedCounter, key: string, cost: number, moment?: Moment): Decision {
    const fixed = this.#outage.health.isImpaired ? this.#outage.apply([{ counter, key }]) : undefined
    if (fixed) return new RequestDecision(this.#answerAlike(fixed, [{ counter, key, cost }], moment))
    if (this.#ledger.arrived) this.#reports.learn(counter, key, this.#ledger.arrived)
    const decision = counter.local.take(key, cost, moment)
    const isAllowed = decision.retryAfterMs === 0
    this.#decided(isAllowed, decision)
    if (!isAllowed) {
      this.#denied(counter, key, cost, decision.takenAt)
      if (decision.remaining >= cost) return this.#burstDecision(decision)
    } else if (cost > 0) this.#reports.taken(counter, key, cost, decision.takenAt, decision.remaining)
    else this.#reports.read(counter, key, decision.takenAt)
    return decision
  }

  takeAll(requested: readonly Charge[], moment?: Moment): Answer {
    const charges = requested as readonly SyncedCharge[]
    const fixed = this.#outage.apply(charges)
    if (fixed) return this.#answerAlike(fixed, charges, moment)
    this.#learn(charges)
    this.#restore(charges, moment)
    const answer = this.#memory.takeAll(charges.map(localCharge), moment)
    const isTaken = !hasDenial(answer.verdicts)
    const verdicts = answer.verdicts.map((verdict, index) => waiting(verdict as PolicyVerdict, charges[index].cost))
    this.#decided(isTaken, answer)
    const allFit = isTaken && answer.verdicts.every(({ allowed }) => allowed)
    for (const [index, { counter, key, cost, advisory }] of charges.entries()) {
      const { allowed, remaining } = answer.verdicts[index]
      if (advisory ? allFit : isTaken) this.#taken(counter, key, cost, answer.takenAt, remaining)
      else if (!allowed) this.#denied(counter, key, cost, answer.takenAt)
    }
    return { ...answer, verdicts }
  }

  peekAll(requested: readonly Charge[], moment?: Moment): Answer {
    const charges = requested as readonly SyncedCharge[]
    const fixed = this.#outage.apply(charges)
    if (fixed) return fixed.peek(charges as never, moment?.now ?? this.#clock.now())
    this.#learn(charges)
    return this.#memory.peekAll(charges.map(localCharge), moment)
  }

  adjustAll(requested: readonly Charge[], takenAt: number, moment?: Moment): Answer {
    const charges = requested as readonly SyncedCharge[]
    this.#outage.apply(charges)
    this.#restore(charges, moment)
    const answer = this.#memory.adjustAll(charges.map(localCharge), takenAt, moment)
    const now = answer.takenAt
    const then = Math.min(Number.isNaN(takenAt) ? now : takenAt, now)
    for (const { counter, key, cost } of charges) {
      if (cost === 0) continue
      // a late charge with a draining algorithm drains from now on
      const isDebt = cost > 0 && maxLateMs(counter.compiled) === 0
      this.#reports.selectRow(counter, key, now)
      const policy = counter.local.compiled
      this.#reports.report(counter, key, cost, isDebt ? now : policy.chargedAt(policy.row, now, cost, then))
    }
    return answer
  }

  /** Resets keys: immediately in this process, within two ticks in the other processes. */
  async resetAll(requested: readonly CountedKey[]): Promise<void> {
    const keys = requested as readonly SyncedCharge[]
    this.#forget(keys)
    // reports that were sent earlier would otherwise be counted after the reset
    await this.#exchange.recall(keys)
    await this.#ledger.resetAll(keys)
    this.#forget(keys)
  }

  estimateOf(requested: CountedKey): CountEstimate {
    const { counter, key } = requested as SyncedCharge
    return this.#reports.estimateOf(counter, key)
  }

  observe(observer: Observer): () => void {
    const stop = [this.#memory.observe(observer), this.#observers.add(observer)]
    return () => {
      for (const one of stop) one()
    }
  }

  /** Returns the current `sluice_global_…` metrics. */
  metrics(): Iterable<Metric> {
    this.#reports.measure()
    return this.#metrics.metrics()
  }

  /** Sends reports for at most `closeMs`. A `sync` event has the number of units that remain unreported. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const unreported = await this.#exchange.close()
    const dropped = unreported + this.#reports.dropped
    if (dropped > 0) this.#observers.event('sync', { topic: this.name, dropped })
    await this.#ledger.close?.()
    this.#memory.close()
  }

  /** Returns a denial with 0 remaining units: the process has spent its burst and must wait for a reply. */
  #burstDecision({ policy, retryAfterMs, resetAfterMs, takenAt, counted, source }: SoleDecision): Decision {
    return new SoleDecision(source, policy, 0, retryAfterMs, resetAfterMs, takenAt, retryAfterMs, counted)
  }

  #decided(isAllowed: boolean, { counted, source }: Pick<Answer, 'counted' | 'source'>): void {
    const { allowed, limited, outageDecisions } = this.#metrics
    if (isAllowed) allowed.add(1)
    else limited.add(1)
    if (!counted) outageDecisions.add(1, source)
  }

  /** Applies what this process has received about the keys since their last replies. */
  #learn(charges: readonly SyncedCharge[]): void {
    const { arrived } = this.#ledger
    if (arrived) for (const { counter, key } of charges) this.#reports.learn(counter, key, arrived)
  }

  /** Restores usage that the ledger has under other cells. */
  #restore(charges: readonly SyncedCharge[], moment: Moment | undefined): void {
    for (const { counter, key, known } of charges) {
      if (known && known.ageMs === undefined)
        this.#reports.restore(counter, key, known, moment?.now ?? this.#clock.now())
    }
  }

  #taken(counter: SyncedCounter, key: string, cost: number, now: number, remaining: number): void {
    if (cost === 0) {
      this.#reports.read(counter, key, now)
      return
    }
    this.#reports.selectRow(counter, key, now)
    this.#reports.taken(counter, key, cost, now, remaining)
  }

  #denied(counter: SyncedCounter, key: string, cost: number, now: number): void {
    if (this.#terms.countsDenied) this.adjustAll([{ counter, key, cost }], now, { now })
    else this.#reports.denied(counter, key, now)
  }

  #forget(keys: readonly SyncedCharge[]): void {
    for (const { counter, key } of keys) this.#reports.drop(counter, key)
    this.#memory.resetAll(keys.map(localKey))
  }

  /** Decides all charges by a fixed rule. Admitted units are counted locally and reported later. */
  #answerAlike(rule: typeof ALLOW_RULE, charges: readonly SyncedCharge[], moment?: Moment): Answer {
    const now = moment?.now ?? this.#clock.now()
    this.#decided(rule === ALLOW_RULE, { counted: false, source: rule.source })
    if (rule === ALLOW_RULE) this.adjustAll(charges, now, { now })
    return rule.peek(charges as never, now)
  }
}

// names each property: a copy with `...` costs several times as much
function localCharge({ key, counter, cost, advisory, known, hold }: SyncedCharge): Charge {
  // restored without being reported as units of this process
  const restored = known?.ageMs === undefined ? undefined : known
  return { key, counter: counter.local, cost, advisory: advisory === true, known: restored, hold }
}

function localKey({ key, counter }: SyncedCharge): CountedKey {
  return { key, counter: counter.local }
}
