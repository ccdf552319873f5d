import type { NewSketchRow, SketchGroup } from './sketch-table.ts'

const DAY_HOURS = 24

/** The group of which a row is part, while rows that begin before `before` are those of days. */
export function groupOf({ id, firstHour, hours }: NewSketchRow, before: number): SketchGroup {
  if (hours === 1 && firstHour >= before) return { id, first: firstHour, span: 1 }
  return { id, first: firstHour - (firstHour % DAY_HOURS), span: DAY_HOURS }
}
