import { closeSync, existsSync, openSync, readSync } from 'node:fs'

/** Units of a lane that were sent, and units that were acknowledged. */
export interface LaneLog {
  readonly sent: number
  readonly answered: number
}

const CHUNK_BYTES = 2 ** 20

/** Reads the log of all lanes incrementally: each call continues where the last one ended. */
export class LaneLogs {
  readonly #path: string
  readonly #units = { sent: new Map<string, Set<string>>(), answered: new Map<string, Set<string>>() }
  readonly #chunk: Buffer = Buffer.alloc(CHUNK_BYTES)
  #offset = 0
  /** The start of a line that is not yet complete. */
  #rest = ''

  constructor(path: string) {
    this.#path = path
  }

  read(): ReadonlyMap<string, LaneLog> {
    if (existsSync(this.#path)) this.#readOn()
    const { sent, answered } = this.#units
    return new Map(
      Array.from(sent, ([lane, units]) => [lane, { sent: units.size, answered: answered.get(lane)?.size ?? 0 }]),
    )
  }

  #readOn(): void {
    const file = openSync(this.#path, 'r')
    try {
      for (;;) {
        const bytes = readSync(file, this.#chunk, 0, CHUNK_BYTES, this.#offset)
        if (bytes === 0) return
        this.#offset += bytes
        this.#parse(this.#chunk.toString('latin1', 0, bytes))
      }
    } finally {
      closeSync(file)
    }
  }

  #parse(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const [what, lane, unit] = line.split(' ')
      const units = what === 'sent' ? this.#units.sent : this.#units.answered
      units.set(lane, (units.get(lane) ?? new Set()).add(unit))
    }
  }
}
