const LONGEST = 128
const HEADER = 'x-request-id'

/**
 * The id of a framework's request: its own `id`, as Fastify and pino-http give one, else its header `x-request-id`.
 * Undefined where it has neither. Clients can write the header: it is cut to 128 characters, and is no proof of anything.
 */
export function requestId(request: unknown): string | undefined {
  try {
    const { id, headers } = (request ?? {}) as { readonly id?: unknown; readonly headers?: Record<string, unknown> }
    return shortText(id) ?? shortText(headers?.[HEADER])
  } catch {
    // a getter of the framework's may throw, and a line without an id is better than none
    return undefined
  }
}

function shortText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST) : undefined
}
