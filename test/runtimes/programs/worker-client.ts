// Replaces the client of the contract in a Worker, which cannot listen on a port: requests go to the handler directly.
import { STATUS_CODES } from 'node:http'
import type { RunningApp } from '@sluice/testkit'
import type { Answered, Asked, Pending } from '../../../packages/testkit/src/adapter/stage/client.ts'
import type { FetchHandler } from '../../adapters/fetch/fetch-app.ts'

const apps = new Map<number, FetchHandler>()

export function serveHere(handler: FetchHandler): RunningApp {
  const port = apps.size + 1
  apps.set(port, handler)
  return { port, close: async () => {} }
}

export function start(port: number, { method = 'GET', path = '/', headers, body }: Asked = {}): Pending {
  const leaving = new AbortController()
  const init: RequestInit = { method, signal: leaving.signal, headers: headers ?? {}, body: (body as string) ?? null }
  const request = new Request(`http://127.0.0.1${path}`, init)
  const answer = (async () => answered(await (apps.get(port) as FetchHandler)(request, { ip: '127.0.0.1' }), method))()
  answer.catch(() => {})
  return { answer, abort: () => leaving.abort() }
}

export function ask(port: number, asked?: Asked): Promise<Answered> {
  return start(port, asked).answer
}

export function own(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return headers
}

async function answered(response: Response, method: string): Promise<Answered> {
  const headers = Object.fromEntries(response.headers)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const body = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  // as a server does
  if (method !== 'HEAD') headers['content-length'] ??= String(body.length)
  const { status, statusText } = response
  return { status, reason: statusText || (STATUS_CODES[status] ?? ''), headers, body, reused: false }
}
