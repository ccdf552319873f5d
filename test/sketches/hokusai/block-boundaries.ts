import type { HokusaiBlock } from '@sluice/sketches'

/**
 * Returns every instant at which a block begins or ends, and the running unit, ascending. Queries cannot be more
 * precise than these instants.
 */
export function boundariesOf(blocks: readonly HokusaiBlock[], running: number): number[] {
  const all = new Set([running, running + 1, ...blocks.flatMap(({ from, to }) => [from, to])])
  return [...all].sort((a, b) => a - b)
}
