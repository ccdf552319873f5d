const OTHER = 'other'
/** Characters of a label value; a longer one is `other`. */
const LONGEST = 200

/** The values that one label has: the first ones that come, and `other` for all that come once there are too many. */
export class LabelBound {
  readonly #most: number
  readonly #known: Set<string> = new Set()

  constructor(most: number) {
    this.#most = most
  }

  /** What is no text is `none`. */
  of(value: unknown): string {
    if (typeof value !== 'string') return 'none'
    if (this.#known.has(value)) return value
    if (this.#known.size >= this.#most || value.length > LONGEST) return OTHER
    this.#known.add(value)
    return value
  }
}
