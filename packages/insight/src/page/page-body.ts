import type { IncomingMessage } from 'node:http'
import type { Clock } from '@sluice/limiter-core'

const SLOWEST_MS = 10_000

/**
 * Returns the text of a body, or what an earlier parser made of it; undefined if it exceeds `most` bytes. Closes the
 * connection if the body does not arrive within 10 s.
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
