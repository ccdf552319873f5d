import type { MaybePromise } from '@sluice/limiter-core'
import type { RunningApp } from '../adapter/stage/app-description.ts'
import type { Answered } from '../adapter/stage/client.ts'

/** An application with a limited route, which listens on 127.0.0.1. */
export interface LimitedApp extends RunningApp {
  /** Returns the number of keys, labels or other entries that the application keeps: clients must not make it grow. */
  readonly kept?: () => MaybePromise<number>
  /** Returns the number of places of in-flight caps that requests hold. */
  readonly held?: () => MaybePromise<number>
}

/** The response to a request of the suite: header names in lower case. */
export type BypassAnswer = Pick<Answered, 'status' | 'headers' | 'body'>

export interface BypassContractOptions {
  /** Path of the limited route. Default: `/login`. */
  readonly path?: string | undefined
  /** Method of the limited route. Default: `POST`. */
  readonly method?: string | undefined
  /** Number of requests that the limit allows a client, at least 2. Default: 3. */
  readonly limit?: number | undefined
  /** Headers of all requests. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Whether the handler of the route made a response. Default: whether the response has the status and the body of the
   * plain request, which must then be the same for every request. A response to a denied request must differ.
   */
  readonly isHandled?: ((answer: BypassAnswer) => boolean) | undefined
  /** Whether the application speaks HTTP/2 without TLS. It then gets HTTP/2 only. Default: false. */
  readonly http2?: boolean | undefined
  /** Names of spellings that the application counts separately on purpose, with the reason. Default: none. */
  readonly except?: Readonly<Record<string, string>> | undefined
}
