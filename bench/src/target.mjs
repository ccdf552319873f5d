/** A row of a target table: what DESIGN section 6 asks for, what was measured, and whether it holds. */
export function targetRow(what, measured, atMost) {
  return [what, measured, atMost, measured <= atMost ? 'hit' : 'MISS']
}

export const targetColumns = ['target', 'measured', 'at most', 'result']

/** A row of a target table whose bounds go both ways. */
export function boundRow(what, measured, { atLeast, atMost }) {
  const holds = atLeast === undefined ? measured <= atMost : measured >= atLeast
  const asked = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`
  return [what, measured, asked, holds ? 'hit' : 'MISS']
}

export const boundColumns = ['target', 'measured', 'asked', 'result']
