import { element } from '../dom/elements.ts'
import { duration } from '../dom/format.ts'

const [WIDTH, HEIGHT] = [600, 120]
const NAMESPACE = 'http://www.w3.org/2000/svg'

/** A line with a gap where a value is null. */
export interface ChartLine {
  readonly label: string
  /** Class of its colour and dashes in caps.css. */
  readonly style: string
  readonly values: readonly (number | null)[]
}

export interface LineChartOptions {
  readonly label: string
  /** Time that the lines cover, in ms. */
  readonly spanMs: number
  readonly text: (value: number) => string
}

/** Returns a chart of lines from 0 to their highest value, with a legend of the latest, lowest and highest values. */
export function lineChart({ label, spanMs, text }: LineChartOptions, lines: readonly ChartLine[]): HTMLElement {
  const shown = lines.filter(({ values }) => values.some((value) => value !== null))
  if (shown.length === 0) return element('p', { class: 'empty' }, 'Nothing in the last 5 minutes.')
  const top = Math.max(1, ...shown.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const svg = made('svg', { class: 'lines', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' })
  svg.append(...shown.map(({ style, values }) => made('path', { class: `line ${style}`, d: pathOf(values, top) })))
  const entries = shown.map((line) => element('li', {}, swatchOf(line), ` ${rangeText(line, text)}`))
  const names = shown.map((line) => rangeText(line, text)).join(', ')
  return element(
    'div',
    {},
    element('ul', { class: 'legend' }, ...entries),
    element('div', { class: 'plot', role: 'img', 'aria-label': `${label}: ${names}` }, svg),
    element(
      'div',
      { class: 'axis quiet' },
      element('span', {}, `${duration(spanMs)} ago`),
      `top: ${text(top)}`,
      element('span', {}, 'now'),
    ),
  )
}

function rangeText({ label, values }: ChartLine, text: (value: number) => string): string {
  const known = values.filter((value) => value !== null)
  const last = values.at(-1) ?? values.at(-2) ?? null
  const range = `${text(Math.min(...known))} to ${text(Math.max(...known))}`
  return `${label} ${last === null ? '–' : text(last)} (${range})`
}

function swatchOf({ style }: ChartLine): Element {
  const svg = made('svg', { class: 'dash', viewBox: '0 0 24 8', 'aria-hidden': 'true' })
  svg.append(made('path', { class: `line ${style}`, d: 'M0 4H24' }))
  return svg
}

function pathOf(values: readonly (number | null)[], top: number): string {
  const last = Math.max(1, values.length - 1)
  let command = 'M'
  let path = ''
  for (const [index, value] of values.entries()) {
    if (value === null) command = 'M'
    else {
      const [x, y] = [(index / last) * WIDTH, HEIGHT - 2 - (value / top) * (HEIGHT - 4)]
      path += `${command}${x.toFixed(1)} ${y.toFixed(1)}`
      command = 'L'
    }
  }
  return path
}

function made(name: string, attributes: Readonly<Record<string, string>>): Element {
  const node = document.createElementNS(NAMESPACE, name)
  for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, value)
  return node
}
