import {
  forgetsMs,
  GRACE,
  type LeaseAsk,
  type LeaseGrant,
  type LeaseTerms,
  leaseMsOf,
  type Script,
  type Step,
} from '@sluice/limiter-core'
import { type TimeArg, toldArgs } from './batch-call.ts'
import { timeOf } from './batch-reply.ts'
import { scriptOver, stepArgs } from './lua/exact-script.ts'
import { leaseLedger } from './lua/lease-ledger.ts'
import { makeGood } from './lua/make-good.ts'
import { failureOfText, RedisFailure } from './redis-failure.ts'
import type { ReportedUsage } from './usage-reports.ts'

type Arg = string | number

/** One script call for many asks, as `leaseLedger` reads it. */
export interface LeaseLedgerCall {
  readonly script: Script
  readonly args: readonly Arg[]
}

/** An ask, and what the server is told of its key. */
export interface ReportedAsk {
  readonly ask: LeaseAsk
  readonly told: ReportedUsage | undefined
}

/** `server`: the number of the server that the call goes to. */
export function leaseLedgerCall(
  asks: readonly ReportedAsk[],
  terms: LeaseTerms,
  time: TimeArg,
  server: number,
): LeaseLedgerCall {
  const args: Arg[] = [time, server, terms.fraction]
  const steps = new Map<Step, number>()
  for (const one of asks) pushAsk(args, one, steps, terms)
  return { script: scriptOver('leases', steps.keys(), makeGood + leaseLedger), args }
}

/** What the script answered: the server's time, and an answer to each ask; undefined where it came too late. */
export function leaseLedgerReply(reply: unknown): {
  readonly now: number
  readonly grants?: readonly (LeaseGrant | RedisFailure)[]
} {
  const [line, ...messages] = String(reply).split('\n')
  const fields = line.split(' ')
  const late = fields[0] === 'late'
  const now = timeOf(fields[late ? 1 : 0])
  if (!Number.isFinite(now)) throw new RedisFailure('ERR', 'the script answered what is no reply of it')
  if (late) return { now }
  const grants: (LeaseGrant | RedisFailure)[] = []
  for (let at = 1; at < fields.length; ) {
    if (fields[at].startsWith('!')) grants.push(failureOfText(messages[Number(fields[at++].slice(1)) - 1]))
    else {
      const [granted, free, charged, waitMs, resetAfterMs, availableAfterMs] = fields.slice(at, at + 6).map(Number)
      const retryAfterMs = waitMs < 0 ? Number.POSITIVE_INFINITY : waitMs
      grants.push({ granted, free, charged, retryAfterMs, resetAfterMs, availableAfterMs, now })
      at += 6
    }
  }
  return { now, grants }
}

function pushAsk(args: Arg[], { ask, told }: ReportedAsk, steps: Map<Step, number>, terms: LeaseTerms): void {
  const { step } = ask
  const met = steps.get(step)
  args.push(met ?? steps.size + 1)
  if (met === undefined) {
    steps.set(step, steps.size + 1)
    args.push(...stepArgs(step), leaseMsOf(step, terms) * GRACE, forgetsMs(step))
  }
  args.push(ask.owner, ask.seq, ask.base, ask.spent, ask.keep, ask.want, ask.demand, ask.minimum, ask.need)
  args.push(told ? 1 : 0)
  if (told) args.push(...toldArgs(told))
}
