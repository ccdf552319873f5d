import type { HeaderLine } from '@sluice/http'

/** The response to a request, as the hooks `settle` and `denied` receive it. */
export interface FetchReply {
  /** Status of a denial. A `denied` hook may change it. */
  status: number
  /** Headers that limits add to the response. */
  readonly headers: Headers
  /** The response of the application; undefined until it exists, and for denials. */
  response: Response | undefined
}

/** A reply whose headers are lines until a hook reads them: `Headers` would take longer than the limits. */
export class LimitReply implements FetchReply {
  status = 200
  response: Response | undefined
  #lines: HeaderLine[] = []
  #headers: Headers | undefined

  get headers(): Headers {
    this.#headers ??= new Headers(this.#lines as [string, string][])
    return this.#headers
  }

  get lines(): readonly HeaderLine[] {
    return this.#headers ? [...this.#headers] : this.#lines
  }

  get(name: string): string | undefined {
    if (this.#headers) return this.#headers.get(name) ?? undefined
    return this.#lines[this.#indexOf(name)]?.[1]
  }

  set(name: string, value: string): void {
    if (this.#headers) this.#headers.set(name, value)
    else this.#lines[this.#indexOf(name)] = [name, value]
  }

  delete(name: string): void {
    if (this.#headers) this.#headers.delete(name)
    else this.#lines.splice(this.#indexOf(name), 1)
  }

  /** Returns the index of a line, or of a new one. */
  #indexOf(name: string): number {
    let index = 0
    for (const [own] of this.#lines) {
      if (own.length === name.length && own.toLowerCase() === name.toLowerCase()) break
      index++
    }
    return index
  }
}
