/** The figures that a row measured, each with its bound. */
export class Findings {
  readonly lines: string[] = []
  readonly misses: string[] = []
  /** The longest stall of an application, in milliseconds. */
  stalledMs = 0

  /** Checks a condition of every row. Reported only on failure. */
  always(what: string, holds: boolean): void {
    if (!holds) this.#found(what, false)
  }

  /** A figure without a bound. */
  note(what: string): void {
    this.lines.push(what)
  }

  atMost(what: string, got: number, bound: number, unit = ''): void {
    this.#found(`${what} ${shown(got)}${unit} (≤ ${shown(bound)}${unit})`, got <= bound)
  }

  atLeast(what: string, got: number, bound: number, unit = ''): void {
    this.#found(`${what} ${shown(got)}${unit} (≥ ${shown(bound)}${unit})`, got >= bound)
  }

  exactly<T extends number | string | boolean>(what: string, got: T, expected: T): void {
    this.#found(`${what} ${shown(got)}${got === expected ? '' : `, not ${shown(expected)}`}`, got === expected)
  }

  /** The machine was too busy for a valid measurement. */
  stalled(ms: number): void {
    this.stalledMs = Math.max(this.stalledMs, ms)
  }

  /** Records that the row could not be completed. */
  failed(error: unknown): void {
    this.#found(String(error).split('\n', 1)[0] as string, false)
  }

  #found(line: string, held: boolean): void {
    this.lines.push(held ? line : `**${line}**`)
    if (!held) this.misses.push(line)
  }
}

function shown(value: number | string | boolean): string {
  if (typeof value !== 'number') return String(value)
  if (!Number.isFinite(value)) return 'none'
  return Math.abs(value) < 10 ? String(Number(value.toFixed(1))) : String(Math.round(value))
}
