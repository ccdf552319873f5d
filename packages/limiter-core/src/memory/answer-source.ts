/** Identifies what answers from a table in memory. */
export interface AnswerSource {
  /** Value of `decision.source`. */
  readonly name: string
  /** False if it answers instead of another backend, by a failure rule. */
  readonly counted: boolean
}

export const FROM_MEMORY: AnswerSource = { name: 'memory', counted: true }
