import { count } from '../terminal/figures.ts'
import { escapedHtml } from './safe-text.ts'

/** A bar, and the part of it that is emphasised. */
export interface Bar {
  readonly label: string
  readonly value: number
  readonly part: number
}

/** A horizontal line with a name. */
export interface Level {
  readonly name: string
  readonly value: number
}

const WIDTH = 720
const HEIGHT = 210
// room for the text of a phone, which is twice as large
const LEFT = 92
const BOTTOM = 30
const TOP = 26
const RIGHT = 8
const PLOT_WIDTH = WIDTH - LEFT - RIGHT
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM
/** Room for the name of a level: names of near levels must not overlap. */
const LEVEL_NAME = 200
/** Distance of two levels below which the name of the lower one is below its line. */
const NEAR = 26
/** Smallest height of a part that is not 0, so that few denials among many requests are visible. */
const VISIBLE = 2

/** Returns vertical bars as SVG. `value` and `part` name the numbers for screen readers and tooltips. */
export function barChart(
  title: string,
  bars: readonly Bar[],
  names: { readonly value: string; readonly part: string },
): string {
  const highest = Math.max(1, ...bars.map(({ value }) => value))
  const step = PLOT_WIDTH / Math.max(1, bars.length)
  const width = Math.max(1, step * 0.8)
  const shapes = bars.map(({ label, value, part }, at) => {
    const tip = `${label}: ${count(value)} ${names.value}, ${count(part)} ${names.part}`
    const x = LEFT + at * step
    const rect = (amount: number, kind: string): string => {
      const height = amount === 0 ? 0 : Math.max(VISIBLE, (amount / highest) * PLOT_HEIGHT)
      return `<rect class="${kind}" x="${round(x)}" y="${round(TOP + PLOT_HEIGHT - height)}" width="${round(width)}" height="${round(height)}"/>`
    }
    return `<g><title>${escapedHtml(tip)}</title>${rect(value, 'bar')}${rect(part, 'part')}</g>`
  })
  const ends = [bars[0], bars.at(-1)].map((bar) => bar?.label ?? '')
  return svg(title, [...gridLines(highest, (value) => value / highest), ...shapes, ...axisLabels(ends)])
}

/**
 * Returns a rising curve as SVG, on a logarithmic scale, with levels as horizontal lines. `values` are at equal
 * distances.
 */
export function curveChart(
  title: string,
  values: readonly number[],
  levels: readonly Level[],
  ends: readonly string[],
): string {
  const highest = Math.max(2, ...values, ...levels.map(({ value }) => value))
  const heightOf = (value: number): number => Math.log(Math.max(1, value)) / Math.log(highest)
  const yOf = (value: number): number => round(TOP + PLOT_HEIGHT * (1 - heightOf(value)))
  const points = values.map(
    (value, at) => `${round(LEFT + (PLOT_WIDTH * at) / Math.max(1, values.length - 1))},${yOf(value)}`,
  )
  const lines = levels.map(({ name, value }, at) => {
    const y = yOf(value)
    const isBelow = levels.some((other) => other.value > value && y - yOf(other.value) < NEAR)
    const place = isBelow ? `class="name below" y="${y + 3}"` : `class="name" y="${y - 3}"`
    const label = `<text ${place} x="${LEFT + 4 + at * LEVEL_NAME}">${escapedHtml(`${name}: ${count(value)}`)}</text>`
    return `<g><line class="level level-${at}" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>${label}</g>`
  })
  const curve = `<polyline class="curve" points="${points.join(' ')}"/>`
  return svg(title, [...gridLines(highest, heightOf, true), curve, ...lines, ...axisLabels(ends)])
}

function svg(title: string, parts: readonly string[]): string {
  const label = escapedHtml(title)
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">${parts.join('')}</svg>`
}

/** Returns lines at round numbers up to `highest`. `heightOf`: from 0 at the bottom to 1 at the top. */
function gridLines(highest: number, heightOf: (value: number) => number, isLogarithmic = false): string[] {
  const power = 10 ** Math.floor(Math.log10(highest))
  const values = isLogarithmic
    ? Array.from({ length: Math.log10(power) + 1 }, (_, exponent) => 10 ** exponent)
    : [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((times) => times * power).filter((value) => value <= highest)
  return values.map((value) => {
    const y = round(TOP + PLOT_HEIGHT * (1 - heightOf(value)))
    const line = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>`
    return `${line}<text class="tick" x="${LEFT - 6}" y="${y + 4}">${count(value)}</text>`
  })
}

function axisLabels([first, last]: readonly string[]): string[] {
  const y = HEIGHT - 6
  return [
    `<text class="axis" x="${LEFT}" y="${y}">${escapedHtml(first)}</text>`,
    `<text class="axis end" x="${WIDTH - RIGHT}" y="${y}">${escapedHtml(last)}</text>`,
  ]
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
