/** Splits the bytes that a Redis client sends into requests, each an array of bulk strings. */
export class RequestParser {
  #received = Buffer.alloc(0)

  /** Returns the requests that are complete with this data. */
  push(data: Buffer): Buffer[][] {
    this.#received = Buffer.concat([this.#received, data])
    const requests: Buffer[][] = []
    for (let next = this.#next(); next; next = this.#next()) requests.push(next)
    return requests
  }

  #next(): Buffer[] | undefined {
    const count = this.#numberAt(0, '*')
    if (!count) return undefined
    const words: Buffer[] = []
    let at = count.end
    while (words.length < count.value) {
      const length = this.#numberAt(at, '$')
      if (!length || this.#received.length < length.end + length.value + 2) return undefined
      words.push(this.#received.subarray(length.end, length.end + length.value))
      at = length.end + length.value + 2
    }
    this.#received = this.#received.subarray(at)
    return words
  }

  /** Reads a line of `kind` and a number. Returns undefined if the line is not complete. */
  #numberAt(at: number, kind: string): { readonly value: number; readonly end: number } | undefined {
    const lineEnd = this.#received.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const line = this.#received.toString('latin1', at, lineEnd)
    if (!line.startsWith(kind)) throw new Error(`a request must be an array of bulk strings, received ${line}`)
    return { value: Number(line.slice(1)), end: lineEnd + 2 }
  }
}
