import { GENERATED, type Part } from './rate-headers.ts'

/** Names of the components. */
export const PROBLEM_SCHEMA = 'RateLimitProblem'
export const DENIALS: Readonly<Record<string, string>> = { 429: 'TooManyRequests', 503: 'ServiceUnavailable' }

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  429: 'A rate limit denied the request. The policies are named in the body.',
  503: 'The server is handling too many requests, or cannot check its limits.',
}
const MAX_POLICIES = 1_000

/** Schema of the problem document (RFC 9457) of a denial. */
export const problemSchema: Part = {
  type: 'object',
  required: ['type', 'title', 'status', 'violated-policies'],
  properties: {
    type: { type: 'string', format: 'uri', maxLength: 256 },
    title: { type: 'string', maxLength: 128, pattern: '^[\\x20-\\x7e]+$' },
    status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
    'violated-policies': {
      type: 'array',
      maxItems: MAX_POLICIES,
      items: { type: 'string', maxLength: 128, pattern: '^[\\x20-\\x7e]+$' },
    },
  },
  ...GENERATED,
}

/** Returns the response to a denied request, with these headers of the components. */
export function denialResponse(status: string, headers: readonly string[]): Part {
  return {
    description: DESCRIPTIONS[status],
    headers: Object.fromEntries(headers.map((name) => [name, reference('headers', name)])),
    content: { 'application/problem+json': { schema: reference('schemas', PROBLEM_SCHEMA) } },
    ...GENERATED,
  }
}

/** Returns a reference to a component. */
export function reference(kind: string, name: string): { readonly $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}
