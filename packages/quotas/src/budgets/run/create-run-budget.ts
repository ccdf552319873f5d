import { memoryBackend } from '@sluice/limiter-core'
import {
  type Backend,
  type Clock,
  clockOf,
  integerFrom,
  parseDuration,
  processMemory,
} from '@sluice/limiter-core/backend'
import { RunChanges, type RunContext } from './level/run-context.ts'
import { BudgetExhausted } from './level/run-end.ts'
import { RunLevel } from './level/run-level.ts'
import { checkedRunOptions, holdMsOf, limitsOf, loopsOf, type RunBudgetOptions } from './level/run-options.ts'
import { LevelBudget } from './level-budget.ts'
import type { RunBudget } from './run-budget.ts'

/**
 * Creates the budget of a run, a hard bound in dollars, tokens, calls and seconds. Throws `SLUICE_BAD_OPTION` and
 * `SLUICE_BAD_DURATION`.
 */
export function runBudget(options: RunBudgetOptions): RunBudget {
  const given = checkedRunOptions(options)
  const { clock, signal, onExhausted = 'abort', countTokens = utf8Tokens, deadlineMs = 5_000, observers = [] } = given
  const { keepMs: kept = '1d', maxOutputTokens = 4_096, streamTokens = 64, backend } = given
  const limits = limitsOf('runBudget', given)
  const keepMs = Math.max(parseDuration(kept, 'runBudget: keepMs'), 2 * (limits.ms ?? 0))
  const run: RunContext = {
    id: given.id ?? crypto.randomUUID(),
    prices: given.prices,
    onExhausted,
    maxOutputTokens: integerFrom('runBudget: maxOutputTokens', maxOutputTokens, 1),
    streamTokens: integerFrom('runBudget: streamTokens', streamTokens, 1),
    countTokens,
    backend: backend === undefined ? ownMemory(clock, given.id) : backend,
    clock,
    timers: clockOf(clock),
    deadlineMs,
    holdMs: holdMsOf(given.maxHoldMs),
    keepMs,
    observers,
    changes: new RunChanges(),
  }
  // after `keepMs` the backend has forgotten the run
  const level = new RunLevel(run, { ms: keepMs, ...limits }, loopsOf('runBudget', given.loops))
  const abort = (): void =>
    level.stop(new BudgetExhausted({ bound: 'signal', budget: level.path }, { cause: signal?.reason }))
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return new LevelBudget(level, () => signal?.removeEventListener('abort', abort))
}

/** A run without an `id` is one of this process: there is nothing to warn of if there are several processes. */
function ownMemory(clock: Clock | undefined, id: string | undefined): Backend {
  const options = clock ? { clock } : {}
  return id === undefined ? processMemory(options) : memoryBackend(options)
}

let encoder: InstanceType<typeof TextEncoder> | undefined

/** Estimates tokens as a quarter of the UTF-8 bytes. */
function utf8Tokens(text: string): number {
  // not when the module is loaded: jsdom has none
  encoder ??= new TextEncoder()
  return encoder.encode(text).length / 4
}
