import { realpathSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import * as search from './app/api/search/route.ts'
import * as summary from './app/api/summary/route.ts'

type Handler = (request: Request) => Promise<Response> | Response

/** The routes, by method and path, as Next.js finds them in the folder `app`. */
const routes: Readonly<Record<string, Handler>> = {
  'GET /api/search': search.GET,
  'POST /api/summary': summary.POST,
}

/** Answers a request as the server of Next.js would, for a client with this address. */
export function answer(request: Request, address: string): Promise<Response> | Response {
  const handler = routes[`${request.method} ${new URL(request.url).pathname}`]
  if (!handler) return Response.json({ routes: Object.keys(routes) }, { status: 404 })
  const headers = new Headers(request.headers)
  headers.set('x-real-ip', address)
  return handler(new Request(request, { headers }))
}

/** Serves the routes without Next.js, until SIGINT or SIGTERM. */
function start(port: number): void {
  const fetch = (request: Request, { incoming }: { incoming: IncomingMessage }): Promise<Response> | Response =>
    answer(request, incoming.socket.remoteAddress ?? '')
  const server = serve({ fetch: fetch as never, port }, (info) => {
    console.log(`The routes of a Next.js app on http://localhost:${info.port}/api/search?q=tea`)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.close(() => process.exit(0)))
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  start(Number(process.env.PORT || 8084))
}
