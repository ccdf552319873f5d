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

export function responseOf({ status = 200, headers = {}, body = '' }: Reply): Response {
  return new Response(body, { status, headers })
}
