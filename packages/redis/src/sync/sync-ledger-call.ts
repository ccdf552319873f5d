import { maxLateMs, type SyncBatch } from '@sluice/fleet/sync'
import { type CompiledPolicy, retentionMs, type Script } from '@sluice/limiter-core/backend'
import { failureOfText, invalidReply, type RedisFailure } from '../client/redis-failure.ts'
import { policyArgs } from '../lua/policy-args.ts'
import { type ReportedUsage, reportArgs } from '../lua/reported-usage.ts'
import { syncScript } from '../lua/scripts.ts'
import { replyParts } from '../server-time/reply-parts.ts'
import type { TimeArg, TimedReply } from '../server-time/timed-calls.ts'

type Arg = string | number

/**
 * Minimum time for which Redis stores the number of a batch. It is longer if the units of the batch count for longer.
 */
const MIN_REMEMBERED_MS = 60_000

/** Script call for a batch, in the argument format of `sync-ledger.lua`. */
export interface SyncLedgerCall {
  readonly script: Script
  readonly args: readonly Arg[]
}

export interface SyncLedgerCallOptions {
  readonly time: TimeArg
  /** Number of the server; 0 if its identity is unknown. */
  readonly server: number
  /** Milliseconds to add to a time of the process clock to get the server's time. */
  readonly offsetMs: number
  /** Usage that the server may have lost, for each key of the batch. */
  readonly reported: readonly (ReportedUsage | undefined)[]
}

export function syncLedgerCall(
  { number, takes, afterLoss = false }: SyncBatch,
  options: SyncLedgerCallOptions,
): SyncLedgerCall {
  const policies = new Map<CompiledPolicy, number>()
  const usages: Arg[] = []
  let rememberedMs = MIN_REMEMBERED_MS
  for (const [index, { counter, takes: units }] of takes.entries()) {
    const { compiled } = counter
    const met = policies.get(compiled)
    usages.push(met ?? policies.size + 1)
    if (met === undefined) {
      policies.set(compiled, policies.size + 1)
      usages.push(...policyArgs(compiled), maxLateMs(compiled))
      rememberedMs = Math.max(rememberedMs, Math.ceil(retentionMs(compiled)))
    }
    const reported = options.reported[index]
    usages.push(reported ? 1 : 0)
    if (reported) usages.push(...reportArgs(reported))
    usages.push(units.length / 2)
    for (let take = 0; take < units.length; take += 2) usages.push(units[take] + options.offsetMs, units[take + 1])
  }
  const args = [options.time, options.server, number, rememberedMs, afterLoss ? 1 : 0, ...usages]
  return { script: syncScript(policies.keys()), args }
}

export interface SyncLedgerReply extends TimedReply {
  /** Number of the last batch that the server counted before this call; 0 if it has none. */
  readonly last: number
  readonly cells: readonly (readonly number[] | RedisFailure)[]
}

export function syncLedgerReply(batch: SyncBatch, reply: unknown): SyncLedgerReply {
  const { fields, messages, late, now } = replyParts(reply)
  if (late) return { now, late, last: 0, cells: [] }
  let at = 2
  const cells = batch.takes.map(({ counter: { compiled } }) => {
    if (fields[at]?.startsWith('!')) return failureOfText(messages[Number(fields[at++].slice(1)) - 1])
    const of = fields.slice(at, at + compiled.cells).map(Number)
    at += compiled.cells
    return of
  })
  const last = Number(fields[1])
  // a stored NaN would make every later estimate of its key NaN
  if (at !== fields.length || ![last, ...cells.flat()].every(isFiniteOrFailure)) throw invalidReply()
  return { now, late, last, cells }
}

function isFiniteOrFailure(value: number | RedisFailure): boolean {
  return typeof value !== 'number' || Number.isFinite(value)
}
