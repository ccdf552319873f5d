import { count } from '../terminal/figures.ts'
import { hourBars } from './hour-bars.ts'
import { htmlPage } from './html-page.ts'
import { hourText, percent, shareOf } from './number-text.ts'
import type { PlanReport, PolicyReport, ReplayReport, TopReport } from './replay-report.ts'
import { bansText, clientsText, listsText, logText } from './replay-text.ts'
import { escapedHtml } from './safe-text.ts'
import { barChart, curveChart } from './svg-charts.ts'

const KEY_LENGTH = 120
const BARS = { value: 'requests', part: 'denied' }

/** Returns a report as one HTML page without scripts and without other files. */
export function replayHtml(report: ReplayReport): string {
  const { total, policies, notes } = report
  const body = `<p class="muted">${escapedHtml(logText(report).split('\n')[0])}</p>
<dl class="tiles">
${tile('Requests', count(total.requests))}
${tile('Denied', `${count(total.denied)} (${percent(shareOf(total.denied, total.requests))})`)}
${tile('Clients', clientsText(total.clients))}
${tile('Clients touched', percent(total.clients.touched))}
${tile('Lines not read', count(report.log.malformed.count))}
</dl>
<h2>Requests by hour</h2>
${hours('Requests and denied requests by hour', total.hours)}
<h2>Policies</h2>
${listsText(report)
  .map((line) => `<p>${escapedHtml(line)}</p>`)
  .join('')}
${policiesTable(policies)}
<h2>What clients used</h2>
<p>The limits that 95 % and more of the clients never exceed, and the most that one client used.</p>
${demandTable(policies)}
${policies.map(policySection).join('\n')}
${problems(report, notes)}`
  return htmlPage('Replay of an access log', body)
}

function tile(name: string, value: string): string {
  return `<div><dt>${escapedHtml(name)}</dt><dd>${escapedHtml(value)}</dd></div>`
}

function policiesTable(policies: readonly PolicyReport[]): string {
  const head = ['Policy', 'Limit', 'Proposed', 'Requests', 'Denied', 'Clients', 'Touched', 'Peak hour (UTC)']
  const rows = policies.flatMap((policy) => {
    const { name, mode, per, peakHour, plans } = policy
    const peak = peakHour ? `${hourText(peakHour.at)}: ${count(peakHour.requests)}` : '-'
    const row = { ...policy, proposal: plans.length === 0 ? policy.proposal : null }
    return [
      figuresRow(mode === 'enforce' ? name : `${name} (${mode})`, `${limitText(policy)} / ${per}`, peak, row),
      ...plans.map((plan) => figuresRow(`${name}: ${plan.plan}`, `${count(plan.limit)} / ${per}`, '-', plan)),
    ]
  })
  return table(head, rows)
}

function limitText({ limit }: PolicyReport): string {
  return typeof limit === 'number' ? count(limit) : Object.values(limit).map(count).join('/')
}

type Figures = Omit<PlanReport, 'plan' | 'limit'>

function figuresRow(name: string, limit: string, peak: string, figures: Figures): string[] {
  const { requests, denied, clients, proposal } = figures
  return [
    name,
    limit,
    proposal ? count(proposal.limit) : '-',
    count(requests),
    `${count(denied)} (${percent(shareOf(denied, requests))})`,
    clientsText(clients),
    percent(clients.touched),
    peak,
  ]
}

function demandTable(policies: readonly PolicyReport[]): string {
  const shares = policies.find(({ demand }) => demand.percentiles.length > 0)?.demand.percentiles ?? []
  const head = ['Policy', ...shares.map(({ share }) => `p${Number((share * 100).toPrecision(6))}`), 'Largest']
  const row = (name: string, { percentiles, largest }: PlanReport['demand']): string[] => [
    name,
    ...shares.map((_, at) => count(percentiles[at]?.limit ?? 0)),
    count(largest),
  ]
  const rows = policies.flatMap(({ name, demand, plans }) => [
    row(name, demand),
    ...plans.map((plan) => row(`${name}: ${plan.plan}`, plan.demand)),
  ])
  return table(head, rows)
}

function policySection(policy: PolicyReport): string {
  const { name, per, unit, demand, proposal, topKeys, topRoutes, denied } = policy
  if (!proposal) return ''
  const limit = typeof policy.limit === 'number' ? policy.limit : Math.max(...Object.values(policy.limit))
  const levels = [
    { name: 'limit', value: limit },
    { name: 'proposed', value: proposal.limit },
  ]
  const curve = curveChart(`${unit} in the busiest ${per} of each client`, demand.curve, levels, [
    'the quietest clients',
    'the busiest client',
  ])
  const measured = demand.measured === 'in slices' ? ' Windows are measured in slices: up to a tenth too long.' : ''
  const proposals = policy.plans.length === 0 ? [{ plan: '', proposal }] : policy.plans
  const proposed = proposals.flatMap((one) => {
    if (!one.proposal) return []
    const of = one.plan === '' ? '' : `${escapedHtml(one.plan)}: `
    const what = `<strong>${of}${count(one.proposal.limit)} per ${escapedHtml(per)} proposed.</strong>`
    return `<p>${what} ${escapedHtml(one.proposal.reason + measured)}</p>`
  })
  const tables =
    denied === 0 ? '' : `${topTable('Keys denied most', topKeys)}${topTable('Routes denied most', topRoutes)}`
  return `<section>
<h2>${escapedHtml(name)}</h2>
${proposed.join('\n')}
${bansText(policy)
  .map((line) => `<p>${escapedHtml(line)}</p>`)
  .join('')}
<h3>Busiest ${escapedHtml(per)} of each client, in ${escapedHtml(unit)}</h3>
${curve}
<h3>Requests by hour</h3>
${hours(`Requests of ${name} by hour`, policy.hours)}
${tables}
</section>`
}

/** Returns a chart of the requests of each hour, with what its colours mean. */
function hours(title: string, requests: ReplayReport['total']['hours']): string {
  const legend = Object.values(BARS).map((name) => `<span class="of-${name}">${name}</span>`)
  return `${barChart(title, hourBars(requests), BARS)}<p class="legend">${legend.join(' ')}</p>`
}

function topTable(title: string, tops: readonly TopReport[]): string {
  const isExact = tops.every(({ error }) => error === 0)
  const rows = tops.map(({ key, denied, error }) => [key, count(denied), ...(isExact ? [] : [count(denied - error)])])
  const head = [title.split(' ')[0].replace(/s$/, ''), ...(isExact ? ['Denied'] : ['Denied, at most', 'At least'])]
  return `<h3>${title}</h3>${table(head, rows)}`
}

function problems({ log }: ReplayReport, notes: readonly string[]): string {
  const lines = log.malformed.samples.map(({ file, line, reason, text }) => [`${file}:${line}: ${text}`, reason])
  const samples = lines.length > 0 ? `<h2>Lines that could not be read</h2>${table(['Line', 'Reason'], lines)}` : ''
  const shown = notes.map((note) => `<li>${escapedHtml(note)}</li>`)
  return samples + (shown.length > 0 ? `<h2>Notes</h2><ul>${shown.join('')}</ul>` : '')
}

/** Each cell has the name of its column, because narrow screens show a row as a card. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const headers = head.map((text) => `<th scope="col">${escapedHtml(text)}</th>`).join('')
  const cell = (text: string, at: number): string =>
    `<td data-name="${escapedHtml(head[at] ?? '')}">${escapedHtml(text, KEY_LENGTH)}</td>`
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`)
  return `<div class="scroll"><table><thead><tr>${headers}</tr></thead><tbody>${body.join('')}</tbody></table></div>`
}
