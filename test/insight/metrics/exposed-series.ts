/** A line of the text format. */
export interface ExposedSeries {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Parses the samples of a text in the Prometheus format. */
export function exposedSeries(text: string): readonly ExposedSeries[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-z]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === undefined) return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text] as const)
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}

/** Returns the value of a series with the given labels, summed over all other labels. */
export function seriesValue(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const found = exposedSeries(text).filter((series) => {
    return series.name === name && Object.entries(labels).every(([label, value]) => series.labels[label] === value)
  })
  return found.reduce((sum, { value }) => sum + value, 0)
}
