import type { IncomingMessage } from 'node:http'
import type { Clock } from '@sluice/limiter-core'

const SLOWEST_MS = 10_000

/**
 * The text of a body, or what a parser before this one made of it; undefined where it is larger than `most` bytes. Ends the
 * connection of a body that did not come within 10 s.
 */
export async function bodyOf(req: IncomingMessage, most: number, clock: Clock): Promise<unknown> {
  const { body } = req as { readonly body?: unknown }
  if (typeof body === 'object' && body !== null) return body
  const cancel = clock.after(SLOWEST_MS, () => req.destroy())
  try {
    return await textOf(req, most)
  } finally {
    cancel()
  }
}

async function textOf(req: IncomingMessage, most: number): Promise<string | undefined> {
  if (req.readableEnded || Number(req.headers['content-length'] ?? 0) > most) return undefined
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > most) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
