import {
  LEASE_GRACE_FACTOR,
  type LeaseGrant,
  type LeaseRequest,
  type LeaseTerms,
  leaseMsOf,
} from '@sluice/fleet/leases'
import { type CompiledPolicy, retentionMs, type Script } from '@sluice/limiter-core/backend'
import { failureOfText, type RedisFailure } from '../client/redis-failure.ts'
import { policyArgs } from '../lua/policy-args.ts'
import { type ReportedUsage, reportArgs } from '../lua/reported-usage.ts'
import { leaseScript } from '../lua/scripts.ts'
import { replyParts } from '../server-time/reply-parts.ts'
import type { TimeArg, TimedReply } from '../server-time/timed-calls.ts'

type Arg = string | number

/** Script call for several lease requests, in the argument format of `lease-ledger.lua`. */
export interface LeaseLedgerCall {
  readonly script: Script
  readonly args: readonly Arg[]
}

/** Lease request, and the usage to report for its key. */
export interface ReportedAsk {
  readonly ask: LeaseRequest
  readonly reported: ReportedUsage | undefined
}

/** Builds a call. `server` is the number of the server; 0 if its identity is unknown. */
export function leaseLedgerCall(
  asks: readonly ReportedAsk[],
  terms: LeaseTerms,
  time: TimeArg,
  server: number,
): LeaseLedgerCall {
  const args: Arg[] = [time, server, terms.fraction]
  const policies = new Map<CompiledPolicy, number>()
  for (const one of asks) pushAsk(args, one, policies, terms)
  return { script: leaseScript(policies.keys()), args }
}

export interface LeaseLedgerReply extends TimedReply {
  /** A grant or a failure for each request, in the same order; empty if the call was late. */
  readonly grants: readonly (LeaseGrant | RedisFailure)[]
}

export function leaseLedgerReply(reply: unknown): LeaseLedgerReply {
  const { fields, messages, late, now } = replyParts(reply)
  if (late) return { now, late, grants: [] }
  const grants: (LeaseGrant | RedisFailure)[] = []
  for (let at = 1; at < fields.length; ) {
    if (fields[at].startsWith('!')) grants.push(failureOfText(messages[Number(fields[at++].slice(1)) - 1]))
    else {
      const [granted, free, charged, waitMs, resetAfterMs, growsMs] = fields.slice(at, at + 6).map(Number)
      const [retryAfterMs, availableAfterMs] = [waitMs, growsMs].map((ms) => (ms < 0 ? Number.POSITIVE_INFINITY : ms))
      grants.push({ granted, free, charged, retryAfterMs, resetAfterMs, availableAfterMs, now })
      at += 6
    }
  }
  return { now, late, grants }
}

function pushAsk(
  args: Arg[],
  { ask, reported }: ReportedAsk,
  policies: Map<CompiledPolicy, number>,
  terms: LeaseTerms,
): void {
  const { compiled } = ask.counter
  const met = policies.get(compiled)
  args.push(met ?? policies.size + 1)
  if (met === undefined) {
    policies.set(compiled, policies.size + 1)
    args.push(...policyArgs(compiled), leaseMsOf(compiled, terms) * LEASE_GRACE_FACTOR, retentionMs(compiled))
  }
  args.push(ask.owner, ask.seq, ask.base, ask.spent, ask.keep, ask.want, ask.demand, ask.minimum, ask.need)
  args.push(reported ? 1 : 0)
  if (reported) args.push(...reportArgs(reported))
}
