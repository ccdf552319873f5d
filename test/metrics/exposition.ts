/** A sample line. The labels keep their order in the line. */
interface ReadSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ReadFamily {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly samples: readonly ReadSample[]
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\\n]|\\\\|\\n)*)$/
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/s
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/y

/**
 * Reads the text format 0.0.4 of Prometheus. Throws for everything that promtool rejects: a missing or duplicate
 * header, samples outside of their family, equal series, and buckets that are not cumulative or not complete.
 */
export function readExposition(text: string): ReadFamily[] {
  if (text === '') return []
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const families: (ReadFamily & { readonly samples: ReadSample[] })[] = []
  const lines = text.slice(0, -1).split('\n')
  for (let at = 0; at < lines.length; at++) {
    const help = HELP.exec(lines[at])
    if (help) {
      const type = TYPE.exec(lines[++at] ?? '')
      if (type?.[1] !== help[1]) throw new Error(`no TYPE after ${lines[at - 1]}`)
      families.push({ name: help[1], help: unescaped(help[2]), type: type[2], samples: [] })
      continue
    }
    const family = families.at(-1)
    if (!family) throw new Error(`a sample without a header: ${lines[at]}`)
    family.samples.push(sampleOf(lines[at], family))
  }
  checkNames(families)
  for (const family of families) {
    checkSeries(family)
    if (family.type === 'histogram') checkBuckets(family)
  }
  return families
}

function sampleOf(line: string, { name, type }: ReadFamily): ReadSample {
  const match = SAMPLE.exec(line)
  if (!match) throw new Error(`no sample: ${line}`)
  const suffix = match[1].startsWith(name) ? match[1].slice(name.length) : undefined
  const allowed = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
  if (!allowed.includes(suffix ?? 'none')) throw new Error(`a sample of another family: ${line}`)
  return { name: match[1], labels: labelsOf(match[2] ?? ''), value: numberOf(match[3]) }
}

function labelsOf(text: string): Record<string, string> {
  const labels = new Map<string, string>()
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text)
    if (!match) throw new Error(`no labels: ${text}`)
    if (labels.has(match[1])) throw new Error(`a label twice: ${text}`)
    labels.set(match[1], unescaped(match[2]))
  }
  return Object.fromEntries(labels)
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, character) => (character === 'n' ? '\n' : character))
}

function numberOf(text: string): number {
  return Number(text.replace('Inf', 'Infinity'))
}

function checkNames(families: readonly ReadFamily[]): void {
  const names = families.flatMap(({ name, type }) =>
    type === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((suffix) => `${name}${suffix}`) : [name],
  )
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new Error(`two families have ${twice}`)
}

function checkSeries({ samples }: ReadFamily): void {
  const series = samples.map(({ name, labels }) => seriesOf(name, labels))
  const twice = series.find((one, index) => series.indexOf(one) < index)
  if (twice !== undefined) throw new Error(`twice: ${twice}`)
}

function seriesOf(name: string, labels: Readonly<Record<string, string>>): string {
  return JSON.stringify([name, Object.entries(labels).sort()])
}

function checkBuckets({ name, samples }: ReadFamily): void {
  const groups = new Map<string, ReadSample[]>()
  for (const sample of samples) {
    const { le: _bound, ...labels } = sample.labels
    const series = seriesOf(name, labels)
    groups.set(series, [...(groups.get(series) ?? []), sample])
  }
  for (const group of groups.values()) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => numberOf(labels.le))
    const [sum, count] = ['_sum', '_count'].map((suffix) => group.find((sample) => sample.name === `${name}${suffix}`))
    if (!sum || !count || group.length !== buckets.length + 2) throw new Error(`${name} is not complete`)
    if (bounds.some((bound, index) => index > 0 && !(bound > bounds[index - 1]))) throw new Error(`${name} falls`)
    if (buckets.some(({ value }, index) => index > 0 && value < buckets[index - 1].value))
      throw new Error(`${name} falls`)
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || buckets.at(-1)?.value !== count.value)
      throw new Error(`${name} ends`)
  }
}
