import type { InsightSnapshot, MeasuredSample, SourceSnapshot } from '../../../live/report/snapshot.ts'
import { type Child, element, untrustedText } from '../dom/elements.ts'
import { amountText, count } from '../dom/format.ts'
import { section, table } from './table.ts'

/** Section headings by prefix of the metric name. */
const SUBJECTS = [
  ['sluice_quota_', 'Quotas'],
  ['sluice_counters_', 'Usage counters'],
  ['sluice_global_', 'Global limits'],
  ['sluice_sync_', 'Synchronisation'],
  ['sluice_gossip_', 'Gossip'],
  ['sluice_overrides', 'Per-key limits'],
  ['', 'Other metrics'],
] as const

const SCOPE = 'Values of this process only, since it started.'
/** Maximum number of series that a process sends. */
const MAX_SERIES = 100

/** View of the metrics of quotas, counters, synced backends and gossip. */
export function sourcesView({ sources }: InsightSnapshot): readonly HTMLElement[] {
  const heading = element('h2', { class: 'title' }, 'Metrics')
  if (sources.length === 0) return [heading, element('p', { class: 'empty' }, 'No metric sources are attached.')]
  const series = sources.reduce((sum, { samples }) => sum + samples.length, 0)
  const scope = series < MAX_SERIES ? SCOPE : `${SCOPE} Only the first ${MAX_SERIES} series are shown.`
  const panels = SUBJECTS.map(([prefix, subject]) => {
    const of = sources.filter(({ name }) => subjectOf(name) === prefix)
    return of.length === 0 ? undefined : section(subject, sourceTable(subject, of))
  })
  const shown = panels.filter((panel) => panel !== undefined)
  return [heading, element('p', { class: 'quiet' }, scope), element('div', { class: 'subjects' }, ...shown)]
}

function subjectOf(name: string): string {
  return SUBJECTS.find(([prefix]) => name.startsWith(prefix))?.[0] ?? ''
}

function sourceTable(subject: string, sources: readonly SourceSnapshot[]): HTMLElement {
  const columns = [{ label: 'Metric' }, { label: 'Labels' }, { label: 'Value', isNumber: true }]
  return table(subject, columns, sources.flatMap(rowsOf), '', true)
}

function rowsOf(source: SourceSnapshot): readonly (readonly Child[])[] {
  const { name, help } = source
  const what = () => element('div', {}, untrustedText(help), element('div', { class: 'quiet' }, untrustedText(name)))
  if (source.type === 'histogram') {
    return source.samples.map((sample) => [what(), labelsText(sample.labels), measuredText(name, sample)])
  }
  return source.samples.map(({ labels, value }) => [what(), labelsText(labels), amountText(name, value)])
}

function labelsText(labels: Readonly<Record<string, string>>): Child {
  const pairs = Object.entries(labels)
  return pairs.length === 0 ? '–' : untrustedText(pairs.map(([name, value]) => `${name} ${value}`).join(', '))
}

function measuredText(name: string, { count: times, mean, p50, p99 }: MeasuredSample): Child {
  if (mean === null) return times === 0 ? 'no samples yet' : samplesText(times)
  const bounds = [
    ['p50', p50],
    ['p99', p99],
  ] as const
  const known = bounds.filter(([, bound]) => bound !== null)
  const texts = known.map(([share, bound]) => `${share} ≤ ${amountText(name, bound ?? 0)}`)
  const detail = [samplesText(times), ...texts].join(', ')
  return element('div', {}, `mean ${amountText(name, mean)}`, element('div', { class: 'quiet' }, detail))
}

function samplesText(samples: number): string {
  return samples === 1 ? '1 sample' : `${count(samples)} samples`
}
