import type { WrittenPolicy } from '@sluice/policies'
import type { CountedKey } from '@sluice/sketches'
import type { ClientUsage } from '../counts/client-usage.ts'
import type { DenialCounts } from '../counts/denial-counts.ts'
import type { PlanUsage } from '../counts/plan-usage.ts'
import { quantileLimit, rankError } from '../counts/quantile-limit.ts'
import type { LogSummary } from '../log/log-files.ts'
import { keyText } from '../report/key-text.ts'
import type {
  ClientsReport,
  CountsReport,
  HourReport,
  PlanReport,
  PolicyReport,
  ReplayReport,
  TopReport,
} from '../report/replay-report.ts'
import type { LogReplay } from './log-replay.ts'
import type { LogRequest } from './log-request.ts'
import { proposedLimit } from './proposed-limit.ts'
import type { ReplayedPolicies } from './replayed-policies.ts'
import { isMeasuredInSlices } from './window-demand.ts'

/** Number of entries in the lists of keys and routes. */
const TOP = 10
/** Shares of the clients for which the smallest limit is reported. */
const SHARES = [0.95, 0.99, 0.999, 0.9999]
/** Number of points of the curve of busiest windows. */
const POINTS = 100

/** Returns the report of a replay. */
export function replayReport(replay: LogReplay, log: LogSummary): ReplayReport {
  return {
    version: 1,
    log: { ...log, ...replay.times.report() },
    total: countsReport(replay.total),
    lists: replay.replayed.lists ? { blocked: replay.blocked, allowed: replay.exempt } : null,
    policies: replay.replayed.matcher.policies.map(({ written, key }, index) => {
      const { name, mode = 'enforce', limit, per, unit = 'requests' } = written
      return { name, mode, limit, per, unit, ...policyReport(replay, index, written, key.names.length) }
    }),
    notes: notesOf(replay),
  }
}

/** `keyParts`: number of attributes in the keys. */
export function countsReport(counts: DenialCounts, keyParts = 1): CountsReport {
  const hours = counts.hours.sorted().map(({ startsAt, requests, denied }) => {
    return { at: new Date(startsAt).toISOString(), requests, denied }
  })
  return {
    requests: counts.requests,
    denied: counts.denied,
    clients: clientsReport(counts.clients),
    peakHour: hours.reduce<HourReport | null>((peak, one) => (one.requests > (peak?.requests ?? 0) ? one : peak), null),
    hours,
    topKeys: counts.topKeys(TOP).map((top) => {
      const requests = counts.clients.requestsOf(top.key)
      return topReport({ ...top, key: keyText(top.key, keyParts) }, requests)
    }),
    topRoutes: counts.topRoutes(TOP).map((top) => topReport(top)),
  }
}

function clientsReport(usage: ClientUsage): ClientsReport {
  const { clients, denied } = usage.sampled
  return { ...usage.count, touched: clients === 0 ? 0 : denied / clients, sample: usage.share }
}

function topReport({ key, count, error }: CountedKey, requests?: number): TopReport {
  return { key, denied: count, error, ...(requests !== undefined && { requests }) }
}

type Counted = Omit<PolicyReport, 'name' | 'mode' | 'limit' | 'per' | 'unit'>

function policyReport(all: LogReplay, index: number, written: WrittenPolicy, keyParts: number): Counted {
  const replay = all.policies[index]
  if (!replay) return NOTHING
  const { policy, counts, plans, banned } = replay
  const { demand, proposal } = demandReport(counts.clients, written)
  const windows = counts.clients.busiestWindows()
  const curve = Array.from({ length: POINTS }, (_, at) => quantileLimit(windows, (at + 1) / POINTS))
  return {
    ...countsReport(counts, keyParts),
    algorithm: policy.algorithm,
    demand: { ...demand, measured: isMeasuredInSlices(policy) ? 'in slices' : 'exactly', curve },
    proposal,
    plans: [...plans].map(([plan, usage]) => planReport(plan, usage, written)),
    bans: written.ban ? { begun: all.replayed.bans?.get(policy.name) ?? 0, denied: banned } : null,
  }
}

function planReport(plan: string, { requests, denied, clients }: PlanUsage, written: WrittenPolicy): PlanReport {
  const limit = (written.limit as Readonly<Record<string, number>>)[plan]
  return { plan, limit, requests, denied, clients: clientsReport(clients), ...demandReport(clients, written) }
}

function demandReport(
  clients: ClientUsage,
  { unit = 'requests', per }: WrittenPolicy,
): Pick<PlanReport, 'demand' | 'proposal'> {
  const windows = clients.busiestWindows()
  const percentiles = SHARES.map((share) => {
    return { share, limit: quantileLimit(windows, share), rankError: rankError(windows, share, clients.share < 1) }
  })
  const above = (limit: number) => clients.above(limit)
  const largest = windows.count === 0 ? 0 : windows.max
  const proposal = proposedLimit({ clients: windows.count, largest, percentiles, above }, unit, per) ?? null
  return { demand: { percentiles, largest }, proposal }
}

const NOTHING: Counted = {
  requests: 0,
  denied: 0,
  clients: { count: 0, error: 0, touched: 0, sample: 1 },
  peakHour: null,
  hours: [],
  topKeys: [],
  topRoutes: [],
  algorithm: null,
  demand: { percentiles: [], largest: 0, measured: 'exactly', curve: [] },
  proposal: null,
  plans: [],
  bans: null,
}

function notesOf({ replayed, policies, request }: LogReplay): readonly string[] {
  const samples = policies.flatMap((one) => {
    const sample = one?.counts.clients.share ?? 1
    return sample === 1
      ? []
      : `Figures of clients of ${one?.policy.name} are from a sample: one client in ${1 / sample}.`
  })
  return [...decisionNotes(replayed), ...attributeNotes(request), ...samples]
}

/** Returns which attributes of policies the log does not have. */
export function attributeNotes({ reads }: LogRequest): readonly string[] {
  return [...reads].flatMap(([name, { count, missing }]) => {
    if (name === 'route' && missing > 0) {
      const [some, all] = [missing, count].map((one) => one.toLocaleString('en-US'))
      return `No pattern fits the paths of ${some} of ${all} requests: routes are those that policies name in match, and those of the option --route.`
    }
    if (missing < count) return []
    return `The log does not have the attribute ${name}: policies that match it did not apply, addresses took its place in keys, and reserved costs were final.`
  })
}

/** Returns what makes the decisions of policies less exact. */
export function decisionNotes({ failedConditions, evicted }: ReplayedPolicies): readonly string[] {
  const notes = [...failedConditions].map(
    ([policy, requests]) =>
      `The condition of ${policy} could not be evaluated for ${requests} requests, to which it did not apply.`,
  )
  if (evicted > 0)
    notes.push(`${evicted} keys were forgotten, because counts are limited to 1 GiB: some denials are missing.`)
  return notes
}
