import {
  ALLOW_RULE,
  type AnswerSource,
  type Clock,
  type CountedKey,
  DENY_RULE,
  type MemoryBackend,
} from '@sluice/limiter-core/backend'
import { LedgerHealth } from './ledger-health.ts'
import type { SyncLedger } from './sync-ledger.ts'
import type { SyncTerms } from './sync-terms.ts'
import type { SyncedCounter } from './synced-counter.ts'

const LOCAL: AnswerSource = { name: 'local', counted: false }
const FIXED = { allow: ALLOW_RULE, deny: DENY_RULE } as const

/** Rule that decides while the ledger does not reply. */
export interface SilenceRule {
  readonly source: 'local' | 'allow' | 'deny'
  /** Fraction of each limit that this process admits with `local`. Default: 1 / the number of processes. */
  readonly share?: number | undefined
}

export interface LedgerOutageDeps {
  /** Table in which this process counts. Its source is that of answers while the ledger replies. */
  readonly memory: MemoryBackend
  readonly ledger: SyncLedger
  readonly terms: SyncTerms
  readonly rule: SilenceRule
  readonly clock: Clock
  /** Returns the number of processes that report to the ledger. */
  readonly nodes: () => number
}

/** How a process decides while servers of the ledger fail or are silent. */
export class LedgerOutage {
  readonly health: LedgerHealth
  readonly #deps: LedgerOutageDeps
  /** Source of answers while the ledger replies. */
  readonly #live: AnswerSource
  readonly #counters = new Set<SyncedCounter>()

  constructor(deps: LedgerOutageDeps) {
    const { memory, ledger, terms, clock } = deps
    this.#deps = deps
    this.#live = memory.source
    const changed = (): void => this.#changed()
    this.health = new LedgerHealth({ ledger, silentMs: terms.silentMs, clock, changed })
  }

  opened(counter: SyncedCounter): void {
    this.#counters.add(counter)
  }

  closed(counter: SyncedCounter): void {
    this.#counters.delete(counter)
  }

  /**
   * Scales the policies of keys whose server is failing or silent. Returns the fixed rule that decides all charges if a
   * server is silent; undefined if the rule is `local` or no server is silent.
   */
  apply(charges: readonly CountedKey<SyncedCounter>[]): typeof ALLOW_RULE | undefined {
    const { health } = this
    if (!health.isImpaired) return undefined
    const { memory, ledger, rule } = this.#deps
    let isSilent = false
    for (const { counter } of charges) counter.local.compiled.scale = 1
    for (const { counter, key } of charges) {
      const partition = ledger.partitionOf(key)
      isSilent ||= health.isSilent(partition)
      if (health.isFailing(partition) || health.isSilent(partition)) counter.local.compiled.scale = this.#scale
    }
    memory.source = isSilent ? LOCAL : this.#live
    return isSilent && rule.source !== 'local' ? FIXED[rule.source] : undefined
  }

  /**
   * While the ledger is failing, each process assumes that all others take as much as itself. Otherwise the processes
   * could admit a short window several times before the ledger is considered silent.
   */
  get #scale(): number {
    const { rule, nodes } = this.#deps
    return rule.source === 'local' && rule.share !== undefined ? 1 / rule.share : nodes()
  }

  #changed(): void {
    if (this.health.isImpaired) return
    this.#deps.memory.source = this.#live
    for (const { local } of this.#counters) local.compiled.scale = 1
  }
}
