/** The fields of a response. */
export interface ResponseFields {
  get(name: string): string | null
}

/** What a server reports of one of its limits. */
export interface Budget {
  /** Name of the limit among those of the server; `''` if it has only one. */
  readonly name: string
  /** Units that are left. */
  readonly remaining: number
  /** Milliseconds until more units are available; undefined if unknown. */
  readonly resetMs: number | undefined
  readonly limit: number | undefined
  readonly windowMs: number | undefined
  /** Whether a request is one unit. Units of other limits are tokens, bytes or something else. */
  readonly isRequests: boolean
}
