/** What a row measured, each figure beside what it may be. */
export class Findings {
  readonly lines: string[] = []
  readonly misses: string[] = []
  /** For how long an application did not get to run, at the longest. */
  stalledMs = 0

  /** What holds in every row, and is said where it does not. */
  always(what: string, holds: boolean): void {
    if (!holds) this.#found(what, false)
  }

  /** A figure that nothing is promised about. */
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

  /** The machine gave its cores to others. */
  stalled(ms: number): void {
    this.stalledMs = Math.max(this.stalledMs, ms)
  }

  /** The row did not come to its end. */
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
