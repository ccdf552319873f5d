import type { DenialCounts } from '../counts/denial-counts.ts'
import type { LogSummary } from '../log/log-files.ts'
import type { ChangedPolicyReport, ChangedReport, DiffReport } from '../report/diff-report.ts'
import { attributeNotes, countsReport, decisionNotes } from './build-report.ts'
import type { ChangedRequests } from './changed-requests.ts'
import type { LogDiff } from './log-diff.ts'
import type { ReplayedPolicies } from './replayed-policies.ts'

/** Returns the report of a comparison. */
export function diffReport(diff: LogDiff, log: LogSummary): DiffReport {
  const { requests, clients, deniedBefore, deniedAfter, newlyDenied, newlyAdmitted, before, after, times, request } =
    diff
  return {
    version: 1,
    log: { ...log, ...times.report() },
    requests,
    clients: { ...clients.count, sample: clients.share },
    denied: { before: deniedBefore, after: deniedAfter },
    newlyDenied: changedReport(newlyDenied, after),
    newlyAdmitted: changedReport(newlyAdmitted, before),
    notes: [...new Set([...decisionNotes(before), ...decisionNotes(after), ...attributeNotes(request)])],
  }
}

function changedReport(changed: ChangedRequests, { matcher }: ReplayedPolicies): ChangedReport {
  const policies = [...changed.byPolicy()].map(([name, counts]) => {
    const parts = matcher.policies.find((policy) => policy.name === name)?.key.names.length
    return { name, ...partReport(counts, parts) }
  })
  return { ...partReport(changed.total), policies: policies.sort((a, b) => b.requests - a.requests) }
}

function partReport(counts: DenialCounts, keyParts?: number): ChangedPolicyReport {
  const { denied: _, clients, ...others } = countsReport(counts, keyParts)
  return { ...others, clients: { count: clients.count, error: clients.error, sample: clients.sample } }
}
