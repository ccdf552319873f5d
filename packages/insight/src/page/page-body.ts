import type { IncomingMessage } from 'node:http'

/** The text of a body, or what a parser before this one made of it; undefined where it is larger than `most` bytes. */
export async function bodyOf(req: IncomingMessage, most: number): Promise<unknown> {
  const { body } = req as { readonly body?: unknown }
  if (typeof body === 'object' && body !== null) return body
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
