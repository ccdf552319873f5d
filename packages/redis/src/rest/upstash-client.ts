/** The part of a `Redis` of `@upstash/redis` 1 that Sluice needs. Its address and its token are read from it. */
export interface UpstashRedisClient {
  createScript(...args: never[]): unknown
  evalsha(...args: never[]): Promise<unknown>
}

/** What a client of Upstash sends its requests with. Its types do not declare it. */
export interface UpstashRequester {
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly options?: UpstashRequestOptions | undefined
}

/** Options that the client passes to `fetch`. */
interface UpstashRequestOptions {
  readonly agent?: unknown
  readonly backend?: unknown
  readonly cache?: unknown
}

export function isUpstash(client: unknown): client is UpstashRedisClient {
  const { createScript, evalsha } = (client ?? {}) as Partial<UpstashRedisClient>
  return typeof createScript === 'function' && typeof evalsha === 'function'
}

/** Returns the requester of a client; undefined for a client that was created without a URL or a token. */
export function requesterOf(client: UpstashRedisClient): UpstashRequester | undefined {
  const { client: requester } = client as unknown as { readonly client?: Partial<UpstashRequester> }
  const { baseUrl, headers } = requester ?? {}
  if (typeof baseUrl !== 'string' || baseUrl === '') return undefined
  return typeof headers === 'object' && headers !== null ? (requester as UpstashRequester) : undefined
}
