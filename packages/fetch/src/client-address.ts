import type { ClientSource } from '@sluice/http'
import type { HostResponse } from './host-end.ts'

/**
 * What a runtime passes to a handler beside the request. The client address is read from, in this order:
 * `ip` (srvx, Nitro), `remoteAddr.hostname` (Deno), `requestIP(request)` (the server object of Bun) and `incoming`
 * (`@hono/node-server`).
 */
export interface FetchInfo extends HostResponse {
  readonly ip?: string | null | undefined
  readonly remoteAddr?: { readonly hostname?: string | undefined } | undefined
  readonly requestIP?: ((request: Request) => { readonly address: string } | null) | undefined
  /** Keeps a Worker alive until `work` has settled. Used for settlements after the response. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** Cloudflare sets the header `CF-Connecting-IP` on each request, and replaces one that the client sent. */
const isCloudflare =
  (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent === 'Cloudflare-Workers'

/** Returns the address of the peer, as the runtime knows it; undefined if it does not tell. */
export function peerAddress(request: Request, infos: readonly unknown[]): string | undefined {
  for (const info of [request, ...infos] as (FetchInfo | null | undefined)[]) {
    const address =
      textOf(info?.ip) ??
      textOf(info?.remoteAddr?.hostname) ??
      (typeof info?.requestIP === 'function' ? info.requestIP(request)?.address : undefined) ??
      textOf(info?.incoming?.socket?.remoteAddress)
    if (address !== undefined) return address
  }
  return isCloudflare ? (request.headers.get('cf-connecting-ip') ?? undefined) : undefined
}

/** Returns what the client address of a request is determined from. */
export function fetchSource(request: Request, infos: readonly unknown[]): ClientSource {
  const peer = peerAddress(request, infos)
  return { ip: peer, peer, headerText: (name) => request.headers.get(name) ?? undefined }
}

/** Returns the function that keeps a Worker alive, from the first argument that has one. */
export function waitUntilOf(infos: readonly unknown[]): FetchInfo['waitUntil'] {
  const context = (infos as (FetchInfo | null | undefined)[]).find((info) => typeof info?.waitUntil === 'function')
  return context ? (work) => context.waitUntil?.(work) : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
