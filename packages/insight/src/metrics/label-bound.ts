const OTHER = 'other'
/** Maximum length of a label value in characters. Longer values are reported as `other`. */
const LONGEST = 200

/** Bounds the number of values of a label: the first `most` values are kept, all later ones become `other`. */
export class LabelBound {
  readonly #most: number
  readonly #known: Set<string> = new Set()

  constructor(most: number) {
    this.#most = most
  }

  /** Returns the label value to use. Values that are not strings become `none`. */
  of(value: unknown): string {
    if (typeof value !== 'string') return 'none'
    if (this.#known.has(value)) return value
    if (this.#known.size >= this.#most || value.length > LONGEST) return OTHER
    this.#known.add(value)
    return value
  }
}
