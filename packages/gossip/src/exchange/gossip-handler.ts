import type { IncomingMessage, ServerResponse } from 'node:http'
import { isFromLocalProgram, requestBytes, ServiceProblem, sluiceCodeOf } from '@sluice/counters/backend'
import { hasUnreadBody } from '@sluice/fleet/backend'
import type { Clock } from '@sluice/limiter-core'
import { MAX_MESSAGE_BYTES } from './gossip-message.ts'

export interface GossipHandlerOptions {
  readonly clock: Clock
  /** Whether messages are sealed, so that other machines may send them. */
  readonly allowsRemote: boolean
}

/** Returns a handler of requests whose body is one message. Its promise never rejects. */
export function gossipHandler(
  answer: (message: Uint8Array) => Uint8Array,
  { clock, allowsRemote }: GossipHandlerOptions,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    const { status, body } = await answerOf(req)
    if (res.headersSent || res.destroyed) return
    res.writeHead(status, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': body.byteLength,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(hasUnreadBody(req) && { Connection: 'close' }),
    })
    res.end(body)
  }

  async function answerOf(req: IncomingMessage): Promise<{ readonly status: number; readonly body: Uint8Array }> {
    try {
      if (!allowsRemote && !isFromLocalProgram(req)) throw new ServiceProblem(403, 'not-local')
      if (req.method !== 'POST') throw new ServiceProblem(405, 'method-not-allowed')
      return { status: 200, body: answer(await messageIn(req, clock)) }
    } catch (error) {
      return { status: statusOf(error), body: new Uint8Array() }
    }
  }
}

/** Returns the body of a request. If a parser has already read the body, `req.body` is used, unless it is not bytes. */
async function messageIn(req: IncomingMessage & { readonly body?: unknown }, clock: Clock): Promise<Uint8Array> {
  if (!req.readableDidRead) return requestBytes(req, clock, MAX_MESSAGE_BYTES)
  if (req.body instanceof Uint8Array) return req.body
  throw new ServiceProblem(500, 'body-read-before')
}

function statusOf(error: unknown): number {
  if (error instanceof ServiceProblem) return error.status
  const code = sluiceCodeOf(error)
  if (code === 'SLUICE_GOSSIP_FORGED') return 403
  if (code === 'SLUICE_BAD_MESSAGE') return 400
  return code === 'SLUICE_GOSSIP_UNAVAILABLE' ? 503 : 500
}
