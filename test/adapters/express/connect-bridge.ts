import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import type { HookBridge, Reply } from '@sluice/testkit'

/** Adapts requests and responses of `node:http`, and of frameworks built on it, to the contract. */
export const bridge: HookBridge<IncomingMessage, ServerResponse> = {
  request: (req) => ({
    method: req.method ?? '',
    header: (name) => req.headers[name] as string | undefined,
  }),
  response: (res) => ({
    get statusCode() {
      return res.statusCode
    },
    status: (code) => {
      res.statusCode = code
    },
    send: (reply) => send(res, reply),
  }),
}

export function send(res: ServerResponse, { status, headers = {}, body = '', parts }: Reply): void {
  if (status !== undefined) res.statusCode = status
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (parts) pipeline(Readable.from(parts), res, () => {})
  else res.end(body)
}
