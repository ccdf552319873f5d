import type { FetchReply } from '@sluice/fetch'
import type { HookBridge, HookResponse, Reply } from '@sluice/testkit'

/** Adapts Web-standard requests and the replies of limits to the contract. */
export const bridge: HookBridge<Request, FetchReply> = {
  request: (request) => ({ method: request.method, header: (name) => request.headers.get(name) ?? undefined }),
  response: replyBridge,
}

export function replyBridge(reply: FetchReply): HookResponse {
  return {
    get statusCode() {
      return reply.response?.status ?? reply.status
    },
    status: (code) => {
      reply.status = code
    },
    send: ({ status = reply.status, headers = {}, body = '' }) => new Response(body, { status, headers }),
  }
}

/** Returns a stream that reads a part when its reader asks for one. */
export function streamOf(parts: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = parts[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(Buffer.from(value))
      },
    },
    { highWaterMark: 0 },
  )
}

export function responseOf({ status = 200, headers = {}, body = '', parts }: Reply): Response {
  return new Response(parts ? streamOf(parts) : body, { status, headers })
}
