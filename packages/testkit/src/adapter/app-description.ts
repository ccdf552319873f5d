import type {
  InflightLimitOptions,
  MaybePromise,
  RateLimitOptions,
  RequestSluice,
  SlowDownOptions,
} from '@sluice/limiter-core'

/** A request as the hooks and handlers of the contract see it, whatever the framework calls it. */
export interface HookRequest {
  readonly method: string
  header(name: string): string | undefined
}

/** A response as hooks see it. `send` returns what the framework wants back from an own answer. */
export interface HookResponse {
  readonly statusCode: number
  /** Sets the status, and no more. */
  status(code: number): void
  send(reply: Reply): unknown
}

/** An answer in no framework's idiom. Where it is silent, what stands on the response already is kept. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What a handler is given. */
export interface Exchange {
  readonly request: HookRequest
  /** What the framework's users find on their request. */
  readonly sluice: RequestSluice | undefined
}

export type Handler = (exchange: Exchange) => MaybePromise<Reply>

export type RateOptions = RateLimitOptions<HookRequest, HookResponse>
export type CapOptions = InflightLimitOptions<HookRequest, HookResponse>

export type SlowOptions = SlowDownOptions<HookRequest, HookResponse>

/** A limiter to build, once for each spec: one spec that stands twice is one limiter met twice. */
export type LimiterSpec =
  | { readonly kind: 'rate'; readonly options: RateOptions }
  | { readonly kind: 'cap'; readonly options: CapOptions }
  | { readonly kind: 'slow'; readonly options: SlowOptions }

/** Answers every method at its path. */
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

/** What a framework may lack, with the sentences about it. */
export type Feature = 'built-per-request' | 'met-twice'

export function rate(options: RateOptions): LimiterSpec {
  return { kind: 'rate', options }
}

export function cap(options: CapOptions): LimiterSpec {
  return { kind: 'cap', options }
}

export function slow(options: SlowOptions): LimiterSpec {
  return { kind: 'slow', options }
}
