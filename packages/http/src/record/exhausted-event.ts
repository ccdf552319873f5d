import { httpDenial } from '@sluice/limiter-core/http'

/**
 * Returns the last event of an event stream whose units are used up. Its error has the members of a problem document
 * (RFC 9457), and the `code` and `message` that clients of language models read. It begins with an empty line, which
 * completes an event that the handler has started.
 */
export function exhaustedEvent(policies: readonly string[]): string {
  const message = `The limit ${policies.map((name) => `'${name}'`).join(', ')} was reached before the response ended.`
  const problem: object = JSON.parse(httpDenial(429, policies, 0).body)
  return `\n\nevent: error\ndata: ${JSON.stringify({ error: { code: 'budget_exhausted', message, ...problem } })}\n\n`
}
