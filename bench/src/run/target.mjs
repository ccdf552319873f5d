/** A row of a target table: the target of DESIGN section 6, the measurement, and whether it is met. */
export function targetRow(what, measured, atMost) {
  return [what, measured, atMost, measured <= atMost ? 'hit' : 'MISS']
}

export const targetColumns = ['target', 'measured', 'at most', 'result']

/** A row of a target table with a lower and an upper bound. */
export function boundRow(what, measured, { atLeast, atMost }) {
  const holds = atLeast === undefined ? measured <= atMost : measured >= atLeast
  const asked = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`
  return [what, measured, asked, holds ? 'hit' : 'MISS']
}

export const boundColumns = ['target', 'measured', 'asked', 'result']
