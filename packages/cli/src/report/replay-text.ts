import { count } from '../terminal/figures.ts'
import { hourText, percent, shareOf } from './number-text.ts'
import type { ClientsReport, CountsReport, PlanReport, PolicyReport, ReplayReport, TopReport } from './replay-report.ts'
import { printable } from './safe-text.ts'
import type { TextStyle } from './text-style.ts'
import { textTable } from './text-table.ts'

const KEY_LENGTH = 72
const BUSIEST_HOURS = 5

/** Returns a report as text for a terminal. */
export function replayText(report: ReplayReport, style: TextStyle): string {
  const { total, policies, notes } = report
  const touched = percent(total.clients.touched)
  const parts = [
    logText(report),
    style.heading(
      `${count(total.denied)} of ${count(total.requests)} requests denied (${percent(shareOf(total.denied, total.requests))}), ` +
        `${touched} of ${clientsText(total.clients)} clients touched`,
    ),
    ...listsText(report),
    policiesTable(policies),
    ...policies.map((policy) => proposalText(policy, style)),
    ...policies.flatMap((policy) => bansText(policy)),
    ...policies.filter(({ denied }) => denied > 0).flatMap((policy) => denialTables(policy, style)),
    ...hoursTable(total, style),
    ...notes.map((note) => `Note: ${printable(note)}`),
  ]
  return `${parts.join('\n\n')}\n`
}

/** Returns what was read, and the first lines that could not be read. */
export function logText({ log }: Pick<ReplayReport, 'log'>): string {
  const { malformed, late, files } = log
  const time = log.from && log.to ? `, ${hourText(log.from)} to ${hourText(log.to)} UTC` : ''
  const names = files.map(({ name }) => (name === '-' ? 'standard input' : name)).join(', ')
  const lines = [`${count(log.lines)} lines of ${printable(names, 200)}${time}`]
  if (malformed.count > 0) {
    lines.push(`${count(malformed.count)} lines could not be read (${percent(shareOf(malformed.count, log.lines))}):`)
    for (const { file, line, reason, text } of malformed.samples) {
      lines.push(`  ${printable(file, 80)}:${line}: ${printable(reason, 80)}: ${printable(text, 100)}`)
    }
  }
  for (const { name, isUnfinished, problem } of files) {
    if (problem !== undefined) lines.push(`${printable(name, 80)}: not read to its end: ${printable(problem, 200)}`)
    else if (isUnfinished) lines.push(`${printable(name, 80)}: ends without a newline, so it may be incomplete`)
  }
  if (late.count > 0) {
    lines.push(
      `${count(late.count)} requests were not in order, by up to ${count(Math.round(late.latestByMs / 1000))} s: ` +
        'they count at the time of the request before them',
    )
  }
  return lines.join('\n')
}

export function clientsText({ count: clients, error }: Pick<ClientsReport, 'count' | 'error'>): string {
  return error === 0 ? count(clients) : `about ${count(clients)} (± ${percent(error)})`
}

function policiesTable(policies: readonly PolicyReport[]): string {
  const shares = policies.find(({ demand }) => demand.percentiles.length > 0)?.demand.percentiles ?? []
  const head = [
    ...['Policy', 'Limit', 'Requests', 'Denied', 'Clients', 'Touched', 'Peak hour (UTC)'],
    ...shares.map(({ share }) => `p${Number((share * 100).toPrecision(6))}`),
    'Proposed',
  ]
  return textTable(
    head,
    policies.flatMap((policy) => [
      policyRow(policy, shares.length),
      ...policy.plans.map((plan) => planRow(policy, plan, shares.length)),
    ]),
  )
}

function policyRow(policy: PolicyReport, percentiles: number): string[] {
  const { name, mode, denied, requests, clients, peakHour, demand, proposal, per } = policy
  const limit =
    typeof policy.limit === 'number' ? count(policy.limit) : Object.values(policy.limit).map(count).join('/')
  return [
    printable(name, 40) + (mode === 'enforce' ? '' : ` (${mode})`),
    `${limit} / ${per}`,
    count(requests),
    `${count(denied)} (${percent(shareOf(denied, requests))})`,
    clientsText(clients),
    percent(clients.touched),
    peakHour ? `${hourText(peakHour.at)}: ${count(peakHour.requests)}` : '-',
    ...Array.from({ length: percentiles }, (_, at) => count(demand.percentiles[at]?.limit ?? 0)),
    proposal && policy.plans.length === 0 ? count(proposal.limit) : '-',
  ]
}

function planRow({ name, per }: PolicyReport, plan: PlanReport, percentiles: number): string[] {
  const { limit, requests, denied, clients, demand, proposal } = plan
  return [
    printable(`${name}: ${plan.plan}`, 40),
    `${count(limit)} / ${per}`,
    count(requests),
    `${count(denied)} (${percent(shareOf(denied, requests))})`,
    clientsText(clients),
    percent(clients.touched),
    '-',
    ...Array.from({ length: percentiles }, (_, at) => count(demand.percentiles[at]?.limit ?? 0)),
    proposal ? count(proposal.limit) : '-',
  ]
}

/** Returns what the lists of the policy file decided. */
export function listsText({ lists }: Pick<ReplayReport, 'lists'>): string[] {
  if (!lists) return []
  return [`Lists: ${count(lists.blocked)} requests denied by block, ${count(lists.allowed)} requests exempt by allow`]
}

function proposalText(policy: PolicyReport, style: TextStyle): string {
  const { name, mode, per, proposal, demand, plans } = policy
  const title = style.heading(printable(name, 40))
  if (mode === 'off') return `${title}: off, so no request was counted.`
  if (!proposal) return `${title}: applied to no request of the log.`
  const percentiles = [demand, ...plans.map((plan) => plan.demand)].flatMap((one) => one.percentiles)
  const largest = Math.max(...percentiles.map(({ rankError }) => rankError))
  const notes = [
    demand.measured === 'in slices' ? ' Windows are measured in slices: up to a tenth too long.' : '',
    largest > 0 ? ` Percentiles are off by at most ${percent(largest)} of the clients.` : '',
  ]
  const proposals = plans.length === 0 ? [{ plan: undefined, proposal }] : plans
  const lines = proposals.flatMap((one) => {
    const of = one.plan === undefined ? title : style.heading(printable(`${name}: ${one.plan}`, 40))
    return one.proposal ? `${of}: ${count(one.proposal.limit)} per ${per} proposed. ${one.proposal.reason}` : []
  })
  return `${lines.join('\n')}${notes.join('')}`
}

/** Returns what the bans of a policy did; nothing if it has none. */
export function bansText({ name, mode, bans }: PolicyReport): string[] {
  if (!bans) return []
  const begun = bans.begun === 1 ? '1 ban began' : `${count(bans.begun)} bans began`
  const denied = mode === 'enforce' ? `; ${count(bans.denied)} of the denied requests were of banned keys` : ''
  return [`${printable(name, 40)}: ${begun}${denied}.`]
}

function denialTables(policy: PolicyReport, style: TextStyle): string[] {
  const { name, mode, topKeys, topRoutes } = policy
  const verb = mode === 'shadow' ? 'would deny' : 'denied'
  const title = printable(name, 40)
  return [
    `${style.heading(`Keys that ${title} ${verb} most`)}\n${topTable('Key', topKeys, ['Requests'])}`,
    `${style.heading(`Routes that ${title} ${verb} most`)}\n${topTable('Route', topRoutes, [])}`,
  ]
}

export function topTable(
  first: string,
  tops: readonly TopReport[],
  more: readonly string[],
  counted = 'Denied',
): string {
  const rows = tops.map(({ key, denied, error, requests }) => {
    const amount = error === 0 ? count(denied) : `${count(denied)} (up to ${count(error)} too many)`
    return [printable(key, KEY_LENGTH), amount, ...more.map(() => (requests === undefined ? '-' : count(requests)))]
  })
  return textTable([first, counted, ...more], rows)
}

function hoursTable({ hours }: CountsReport, style: TextStyle): string[] {
  const worst = hours.filter(({ denied }) => denied > 0).toSorted((a, b) => b.denied - a.denied)
  if (worst.length === 0) return []
  const rows = worst.slice(0, BUSIEST_HOURS).map(({ at, requests, denied }) => {
    return [hourText(at), count(requests), count(denied), percent(shareOf(denied, requests))]
  })
  return [
    `${style.heading('Hours with the most denials (UTC)')}\n${textTable(['Hour', 'Requests', 'Denied', 'Share'], rows)}`,
  ]
}
