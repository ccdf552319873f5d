import { createColors } from 'picocolors'
import { count, duration } from '../terminal/figures.ts'
import { cellText, safeText } from '../terminal/safe-text.ts'
import { tableLines } from '../terminal/text-table.ts'

/** The parts of an explanation that a terminal shows. Times are ms since 1970. */
export interface PageExplanation {
  readonly at: number
  /** The key as the page displays it. */
  readonly key: string
  readonly cost: number
  /** Sentences, most urgent first. */
  readonly summary: readonly string[]
  readonly controls: readonly PageChange[]
  readonly denials: readonly PageDenial[]
  readonly isWholeFleet?: boolean
}

/** An active change by an operator. */
interface PageChange {
  readonly action: string
  readonly policy?: string
  readonly cap?: string
  readonly by: string
  readonly reason?: string
  readonly endsAt: number
}

interface PageDenial {
  readonly at: number
  readonly policy: string
  readonly route: string
  readonly method: string
  readonly isShadow: boolean
  readonly times: number
}

/** Returns an explanation as text, most urgent first. */
export function explanationText(explanation: PageExplanation, isColored: boolean): string {
  const { key, cost, summary, controls, denials, at, isWholeFleet } = explanation
  const { bold, red, green } = createColors(isColored)
  const request = cost === 1 ? '' : `, request of ${count(cost)} units`
  const sentences = summary.map((sentence) => {
    const paint = /^(denied|blocked)/.test(sentence)
      ? red
      : /^(allowed|the next request)/.test(sentence)
        ? green
        : String
    return `  ${paint(safeText(sentence))}`
  })
  const lines = [bold(`Key ${safeText(key)}${request}`), ...sentences]
  if (controls.length > 0)
    lines.push('', bold('Changes by operators'), ...controls.map((change) => changeText(change, at)))
  if (denials.length > 0) {
    const scope = isWholeFleet ? '' : ' (this process only)'
    lines.push('', bold(`Recent denials${scope}`), ...denialLines(denials, at))
  }
  return `${lines.join('\n')}\n`
}

function changeText({ action, policy, cap, by, reason, endsAt }: PageChange, at: number): string {
  const where = policy ?? cap
  const parts = [
    `  ${action}${where === undefined ? '' : ` '${where}'`}`,
    `for another ${duration(endsAt - at)}`,
    `by ${by}${reason === undefined ? '' : ` (${reason})`}`,
  ]
  return safeText(parts.join(', '))
}

function denialLines(denials: readonly PageDenial[], at: number): string[] {
  const columns = [{ label: '  WHEN' }, { label: 'POLICY' }, { label: 'ROUTE' }, { label: 'TIMES', isNumber: true }]
  const rows = denials.map(({ at: deniedAt, policy, route, method, isShadow, times }) => [
    `  ${duration(at - deniedAt)} ago`,
    cellText(policy) + (isShadow ? ' (shadow)' : ''),
    cellText(`${method} ${route}`.trim()),
    count(times),
  ])
  return tableLines(columns, rows)
}
