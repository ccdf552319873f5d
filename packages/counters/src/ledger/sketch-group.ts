import type { NewSketchRow, SketchGroup } from './sketch-table.ts'

const DAY_HOURS = 24

/**
 * Returns the group of a row. Rows of one hour that begin at or after hour `before` belong to their hour, others to
 * their day.
 */
export function groupOf({ id, firstHour, hours }: NewSketchRow, before: number): SketchGroup {
  if (hours === 1 && firstHour >= before) return { id, first: firstHour, span: 1 }
  return { id, first: firstHour - (firstHour % DAY_HOURS), span: DAY_HOURS }
}
