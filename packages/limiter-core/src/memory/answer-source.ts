/** Who answers by a table in memory. */
export interface AnswerSource {
  /** As it stands in `decision.source`. */
  readonly name: string
  /** False where it answers in the place of another backend, by a failure rule. */
  readonly counted: boolean
}

export const FROM_MEMORY: AnswerSource = { name: 'memory', counted: true }
