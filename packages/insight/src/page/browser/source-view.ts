import type { InsightSnapshot, MeasuredSample, SourceSnapshot } from '../../live/snapshot.ts'
import { type Child, element, foreign } from './elements.ts'
import { amountText, count } from './format.ts'
import { section, table } from './table.ts'

/** Subjects by how the names of their metrics begin. */
const SUBJECTS = [
  ['sluice_quota_', 'Quotas'],
  ['sluice_counters_', 'Usage counters'],
  ['sluice_global_', 'Global limits'],
  ['sluice_sync_', 'What processes share'],
  ['sluice_gossip_', 'Gossip'],
  ['sluice_overrides', 'Limits of single keys'],
  ['', 'Other sources'],
] as const

const SCOPE = 'Of this process alone, since it started: others have numbers of their own.'
/** Largest number of series that a process sends. */
const MOST_SERIES = 100

/** Measurements of quotas, counters, synced backends and gossip, by subject. */
export function sourcesView({ sources }: InsightSnapshot): readonly HTMLElement[] {
  const heading = element('h2', { class: 'title' }, 'Counters and sync')
  if (sources.length === 0) return [heading, element('p', { class: 'empty' }, 'No source of metrics is attached.')]
  const series = sources.reduce((sum, { samples }) => sum + samples.length, 0)
  const scope = series < MOST_SERIES ? SCOPE : `${SCOPE} At most ${MOST_SERIES} series are shown; metrics have all.`
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
  const columns = [{ label: 'what' }, { label: 'of' }, { label: 'value', isNumber: true }]
  return table(subject, columns, sources.flatMap(rowsOf), '', true)
}

function rowsOf(source: SourceSnapshot): readonly (readonly Child[])[] {
  const { name, help } = source
  const what = () => element('div', {}, foreign(help), element('div', { class: 'quiet' }, foreign(name)))
  if (source.type === 'histogram') {
    return source.samples.map((sample) => [what(), labelsText(sample.labels), measuredText(name, sample)])
  }
  return source.samples.map(({ labels, value }) => [what(), labelsText(labels), amountText(name, value)])
}

function labelsText(labels: Readonly<Record<string, string>>): Child {
  const pairs = Object.entries(labels)
  return pairs.length === 0 ? '–' : foreign(pairs.map(([name, value]) => `${name} ${value}`).join(', '))
}

function measuredText(name: string, { count: times, mean, p50, p99 }: MeasuredSample): Child {
  if (mean === null) return times === 0 ? 'none yet' : `${count(times)} measured`
  const bounds = [
    ['half', p50],
    ['99\u00a0%', p99],
  ] as const
  const known = bounds.filter(([, bound]) => bound !== null)
  const texts = known.map(([share, bound]) => `${share} ≤ ${amountText(name, bound ?? 0)}`)
  const detail = [`${count(times)} measured`, ...texts].join(', ')
  return element('div', {}, `mean ${amountText(name, mean)}`, element('div', { class: 'quiet' }, detail))
}
