import { type ClientSource, isUnixSocket } from '@sluice/http'
import type { HostResponse } from './host-end.ts'

/** A request of Node.js, or of an adapter of serverless functions in its form. */
interface Connected {
  readonly socket?: { readonly remoteAddress?: string | undefined } | null | undefined
}

/**
 * What a runtime passes to a handler beside the request. The client address is read from, in this order:
 * `ip` (srvx, Nitro, Netlify), `remoteAddr.hostname` (Deno), `requestIP(request)` (the server object of Bun), `incoming`
 * (`@hono/node-server`), `socket` (a request of Node.js), `requestContext` (AWS Lambda), `event` (Lambda@Edge) and
 * `context` (Netlify on Hono).
 */
export interface FetchInfo extends HostResponse, Connected {
  readonly ip?: string | null | undefined
  readonly remoteAddr?: { readonly hostname?: string | undefined } | undefined
  readonly requestIP?: ((request: Request) => { readonly address: string } | null) | undefined
  /** Keeps a Worker alive until `work` has settled. Used for settlements after the response. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** The parts of `FetchInfo` as hosts pass them, which only the host knows. */
interface HostInfo extends FetchInfo {
  readonly remoteAddr?: { readonly hostname?: string; readonly transport?: string } | undefined
  /** Event of AWS Lambda: of API Gateway with payload version 1 or 2, of a function URL, or of a load balancer. */
  readonly requestContext?: LambdaContext | undefined
  /** Event of Lambda@Edge, or of AWS Lambda. */
  readonly event?: { readonly Records?: readonly EdgeRecord[] } | undefined
  readonly Records?: readonly EdgeRecord[] | undefined
  readonly context?: { readonly ip?: string } | undefined
}

interface LambdaContext {
  readonly identity?: { readonly sourceIp?: string } | undefined
  readonly http?: { readonly sourceIp?: string } | undefined
  readonly elb?: object | undefined
}

interface EdgeRecord {
  readonly cf?: { readonly request?: { readonly clientIp?: string } } | undefined
}

/** Cloudflare sets the header `CF-Connecting-IP` on each request, and replaces one that the client sent. */
const isCloudflare =
  (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent === 'Cloudflare-Workers'

/** The peer of a request, as its host knows it. */
export type HostPeer = Pick<ClientSource, 'peer' | 'link'>

/** Returns the peer of a request. Reads no header that a client can write. */
export function hostPeer(request: Request, infos: readonly unknown[]): HostPeer {
  for (const info of [request, ...infos] as (HostInfo | null | undefined)[]) {
    const peer = info && (serverAddress(info, request) ?? functionAddress(info))
    if (peer !== undefined && peer !== null) return { peer, link: undefined }
    const link = info && linkOf(info)
    if (link) return { peer: undefined, link }
  }
  const peer = isCloudflare ? (request.headers.get('cf-connecting-ip') ?? undefined) : undefined
  return { peer, link: undefined }
}

/** Returns the address of the connection, from a server. */
function serverAddress(info: HostInfo, request: Request): string | undefined {
  return (
    textOf(info.ip) ??
    textOf(info.remoteAddr?.hostname) ??
    (typeof info.requestIP === 'function' ? info.requestIP(request)?.address : undefined) ??
    textOf((info.incoming ?? info).socket?.remoteAddress)
  )
}

/** Returns the address of the connection to the platform that invokes a function, from the event of the invocation. */
function functionAddress({ requestContext, event, Records = event?.Records, context }: HostInfo): string | undefined {
  return (
    textOf(requestContext?.identity?.sourceIp) ??
    textOf(requestContext?.http?.sourceIp) ??
    textOf(Records?.[0]?.cf?.request?.clientIp) ??
    textOf(context?.ip)
  )
}

function linkOf({ remoteAddr, incoming, requestContext }: HostInfo): ClientSource['link'] {
  if (remoteAddr?.transport?.startsWith('unix') || isUnixSocket(incoming?.socket)) return 'unix'
  return requestContext?.elb ? 'aws-alb' : undefined
}

/** Returns what the client address of a request is determined from. */
export function fetchSource(request: Request, infos: readonly unknown[]): ClientSource {
  const { peer, link } = hostPeer(request, infos)
  return { ip: peer, peer, link, headerText: (name) => request.headers.get(name) ?? undefined }
}

/** Returns the function that keeps a Worker alive, from the first argument that has one. */
export function waitUntilOf(infos: readonly unknown[]): FetchInfo['waitUntil'] {
  const context = (infos as (FetchInfo | null | undefined)[]).find((info) => typeof info?.waitUntil === 'function')
  return context ? (work) => context.waitUntil?.(work) : undefined
}

// adapters of serverless functions pass an empty address if the event has none
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
