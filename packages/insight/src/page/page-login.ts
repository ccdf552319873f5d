import type { IncomingMessage } from 'node:http'

/** A form with one token. */
const MOST_BYTES = 4_096

/** The token of a login form; empty where there is none, or more than a form would send. */
export async function sentToken(req: IncomingMessage): Promise<string> {
  const { body } = req as { readonly body?: unknown }
  // a parser before this one has read it
  if (typeof body === 'object' && body !== null) return textOf((body as { readonly token?: unknown }).token)
  return new URLSearchParams(await formText(req)).get('token') ?? ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

async function formText(req: IncomingMessage): Promise<string> {
  if (req.readableEnded || Number(req.headers['content-length'] ?? 0) > MOST_BYTES) return ''
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
