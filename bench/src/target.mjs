/** A row of a target table: what DESIGN section 6 asks for, what was measured, and whether it holds. */
export function targetRow(what, measured, atMost) {
  return [what, measured, atMost, measured <= atMost ? 'hit' : 'MISS']
}

export const targetColumns = ['target', 'measured', 'at most', 'result']
