const LONGEST = 128
const HEADER = 'x-request-id'

/**
 * Returns the id of a framework request: its `id` property (set by Fastify and pino-http), otherwise the `x-request-id`
 * header, otherwise undefined. Clients control the header, so it is cut to 128 characters and must not be trusted.
 */
export function requestId(request: unknown): string | undefined {
  try {
    const { id, headers } = (request ?? {}) as { readonly id?: unknown; readonly headers?: Record<string, unknown> }
    return shortText(id) ?? shortText(headers?.[HEADER])
  } catch {
    // a getter of the framework may throw; log the line without an id then
    return undefined
  }
}

function shortText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST) : undefined
}
