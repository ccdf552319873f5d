import type { HeaderLine, HttpDenial, RequestView } from '@sluice/limiter-core/http'
import type { RequestLife } from './lifecycle/request-life.ts'

/**
 * A request and its response as limits read and write them, for any server. `Req` and `Res` are the types of the
 * framework.
 */
export interface HttpExchange<Req, Res> extends RequestView<Req> {
  /** How a peer without an address is connected. */
  readonly link?: 'unix' | 'aws-alb' | undefined
  readonly res: Res
  readonly life: RequestLife
  /** Headers of the request. A page of another origin, which sends `Origin`, can read exposed headers only. */
  readonly headers: { readonly origin?: string | undefined }
  /** Returns a request header; values of a repeated header are joined by `, `. */
  headerText(name: string): string | undefined
  /** Whether the response has been sent or started, so that nothing can be added to it. */
  readonly isAnswered: boolean
  /** Whether the response has been written completely, so that delayed work is not needed any more. */
  readonly hasEnded: boolean
  /** Names of the response headers set so far, in lower case. */
  readonly headerNames: readonly string[]
  getHeader(name: string): unknown
  setHeader(name: string, value: string): void
  /** Sets header lines. Returns false, and changes nothing, if the response has been sent or started. */
  setLines(lines: readonly HeaderLine[]): boolean
  removeHeader(name: string): void
  setStatus(status: number): void
  /** Removes the status of a denial, if it is still set, so that the response to another error does not have it. */
  undoStatus?(status: number): void
  /** Called for a denial, whose request body will not be read. */
  refuseBody?(): void
  /** Sends the default body of a denial, after status and headers have been set. */
  send(denial: HttpDenial): void
  /** Receives the return value of a custom `denied` function, for frameworks that send returned values. */
  sendReturned(returned: unknown): void
  /**
   * Aborts a response if it was partly sent, so that its reader notices that it is incomplete. Returns whether it was.
   */
  abort?(): boolean
  /**
   * A function that ends a response that has started before its handler does: an event stream with its argument, any
   * other response like `abort`. Does nothing if the response has not started or has ended.
   */
  readonly cutOff?: (lastEvent: string) => void
}
