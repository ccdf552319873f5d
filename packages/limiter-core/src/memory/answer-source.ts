/** Source of answers that come from a table in memory. */
export interface AnswerSource {
  /** Value of `decision.source`. */
  readonly name: string
  /** Whether the answers count; false in a mirror, which answers by a failure rule instead of another backend. */
  readonly counted: boolean
}

export const FROM_MEMORY: AnswerSource = { name: 'memory', counted: true }
