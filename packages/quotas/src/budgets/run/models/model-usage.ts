/** Tokens of a model call, as its provider reports them. Undefined: not reported. */
export interface ModelUsage {
  /** All input tokens, including those of the cache. */
  readonly input: number | undefined
  /** Input tokens that were read from the cache and written to it. */
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number | undefined
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads the usage of the AI SDK (versions 2 to 4 of its interface) and of the OpenAI Agents SDK. Numbers that are no
 * numbers of tokens count as not reported.
 */
export function usageOf(usage: unknown): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens, inputTokensDetails } = fieldsOf(usage)
  const input = fieldsOf(inputTokens)
  const details = (Array.isArray(inputTokensDetails) ? inputTokensDetails : [inputTokensDetails]).map(fieldsOf)
  const cached = details.reduce((sum, one) => sum + (tokensOf(one.cached_tokens) ?? 0), 0)
  return {
    input: tokensOf(inputTokens) ?? tokensOf(input.total),
    cacheRead: tokensOf(input.cacheRead) ?? tokensOf(cachedInputTokens) ?? cached,
    cacheWrite: tokensOf(input.cacheWrite) ?? 0,
    output: tokensOf(outputTokens) ?? tokensOf(fieldsOf(outputTokens).total),
  }
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function tokensOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= 1e12 ? Math.ceil(value) : undefined
}
