import type { InflightLimitOptions, RateLimitOptions, RequestSluice, ShedOptions, SlowDownOptions } from '@sluice/http'
import type { MaybePromise } from '@sluice/limiter-core'

/** A request as the hooks and handlers of the contract see it, independent of the framework. */
export interface HookRequest {
  readonly method: string
  header(name: string): string | undefined
}

/** A response as hooks see it. `send` returns what the framework expects from a custom denial response. */
export interface HookResponse {
  readonly statusCode: number
  /** Sets the status, and no more. */
  status(code: number): void
  send(reply: Reply): unknown
}

/** A response independent of the framework. Omitted members keep what is already set on the response. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A body that is streamed, each part in a chunk of its own. */
  readonly parts?: AsyncIterable<string>
}

/** The arguments of a handler. */
export interface Exchange {
  readonly request: HookRequest
  /** The object that handlers find on their request. */
  readonly sluice: RequestSluice | undefined
}

export type Handler = (exchange: Exchange) => MaybePromise<Reply>

export type RateOptions = RateLimitOptions<HookRequest, HookResponse>
export type CapOptions = InflightLimitOptions<HookRequest, HookResponse>

export type SlowOptions = SlowDownOptions<HookRequest, HookResponse>

export type ShedderOptions = ShedOptions<HookRequest, HookResponse>

/** A limiter to create, one per spec: a spec that is used twice is one limiter that is met twice. */
export type LimiterSpec =
  | { readonly kind: 'rate'; readonly options: RateOptions }
  | { readonly kind: 'cap'; readonly options: CapOptions }
  | { readonly kind: 'slow'; readonly options: SlowOptions }
  | { readonly kind: 'shed'; readonly options: ShedderOptions }

/** A route for every method at its path. */
export interface Route {
  readonly path: string
  readonly limits?: readonly LimiterSpec[]
  readonly handler: Handler
}

/** An application to build. */
export interface AppDescription {
  /** Set on every response before any limiter runs, as an application's own middleware would. */
  readonly headers?: Readonly<Record<string, string>>
  /** Before every route, in this order. */
  readonly limits: readonly LimiterSpec[]
  readonly routes: readonly Route[]
  /** A common mistake: limiters are built while the request is handled. */
  readonly builtPerRequest?: boolean
}

/** An application that listens on 127.0.0.1. */
export interface RunningApp {
  readonly port: number
  close(): Promise<void>
}

export type MakeApp = (description: AppDescription) => MaybePromise<RunningApp>

/** A feature that a framework may lack, which skips the tests about it. */
export type Feature =
  | 'built-per-request'
  | 'met-twice'
  /** The application sets headers before the limits run. */
  | 'headers-before-limits'
  /** The adapter passes denials to the error handling of the framework if the option `next` is true. */
  | 'error-handlers'
  /** The adapter closes the connection of a denied upload. Otherwise the server decides. */
  | 'closes-connections'
  /** The runtime provides the address of the peer. */
  | 'knows-peer'

export function rate(options: RateOptions): LimiterSpec {
  return { kind: 'rate', options }
}

export function cap(options: CapOptions): LimiterSpec {
  return { kind: 'cap', options }
}

export function slow(options: SlowOptions): LimiterSpec {
  return { kind: 'slow', options }
}

export function shedder(options: ShedderOptions): LimiterSpec {
  return { kind: 'shed', options }
}
