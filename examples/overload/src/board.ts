import type { InsightSnapshot } from '@sluice/insight'
import type { PhaseReport } from './outcomes.ts'
import type { Phase } from './phases.ts'
import { routes } from './routes.ts'

const COLUMNS = ['sent', 'answered', 'refused', 'too late', 'p50', 'p99'] as const

/** Formats the outcomes of a phase, and the state of the cap at its end. */
export function board({ name, perSecond, queryMs }: Phase, report: PhaseReport, { caps }: InsightSnapshot): string {
  const [cap] = caps
  const state = cap ? `limit ${cap.limit}, ${cap.held} in flight, ${cap.waiting} waiting` : ''
  const rows = Object.entries(report).map(([path, { sent, answered, refused, late, p50, p99 }]) => {
    return line(routes[path].priority, [sent, answered, refused, late, ms(p50), ms(p99)])
  })
  const title = `${name}: ${perSecond} requests per second, queries of ${queryMs} ms; at the end ${state}`
  return [title, line('', COLUMNS), ...rows].join('\n')
}

function line(label: string, cells: readonly (string | number)[]): string {
  return `  ${label.padEnd(10)}${cells.map((cell) => String(cell).padStart(10)).join('')}`
}

function ms(duration: number | undefined): string {
  return duration === undefined ? '–' : `${Math.round(duration)} ms`
}
