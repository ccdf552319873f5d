/** A difference between a description and the policies, or a note. Lines and columns start at 1. */
export interface DescriptionFinding {
  /** `hint`: nothing needs to change. */
  readonly severity: 'error' | 'hint'
  readonly line: number
  readonly column: number
  readonly message: string
}

/** Reports a finding at a node of the description. */
export type Report = (severity: DescriptionFinding['severity'], node: unknown, message: string) => void
