import { type Carrier, onCarrierClose } from '@sluice/http'

/** The parts of a response of Node.js that report its end. */
interface NodeResponse {
  readonly statusCode?: number | undefined
  readonly writableFinished?: boolean | undefined
  readonly closed?: boolean | undefined
  readonly destroyed?: boolean | undefined
  readonly errored?: unknown
  on(event: 'close' | 'finish', listener: () => void): unknown
  off(event: 'close' | 'finish', listener: () => void): unknown
}

/** The parts of a request of Node.js that report how its response ended. */
interface NodeRequest {
  readonly aborted?: boolean | undefined
  readonly httpVersionMajor?: number | undefined
  readonly socket?: { readonly remoteAddress?: string | undefined } | null | undefined
}

/** What a host passes beside a request that reports the end of its response. */
export interface HostResponse {
  /** Request of Node.js, as passed by `@hono/node-server`. */
  readonly incoming?: NodeRequest | undefined
  /** Response of Node.js, as passed by `@hono/node-server`. */
  readonly outgoing?: NodeResponse | undefined
  /** Settles when Deno has sent the response. */
  readonly completed?: PromiseLike<unknown> | undefined
}

/** Receives the end of a response. `status` is the status that was sent, if the host reports it. */
export type HostEnd = (completed: boolean, status?: number) => void

/** The events of a host that report the end of a response. */
export interface EndingHost {
  /** Whether the response has already ended, so that no event follows. */
  readonly isOver: boolean
  /** Whether it reports each client that leaves, as the signal of the request does. */
  readonly reportsLeaving: boolean
  /** Calls `end` when the host has sent the response, or can no longer send it. Returns a function that cancels. */
  listen(end: HostEnd): () => void
}

/** Returns the events of the host that passed `infos`; undefined if it reports no end of responses. */
export function endingHostOf(infos: readonly unknown[]): EndingHost | undefined {
  for (const info of infos as (HostResponse | null | undefined)[]) {
    if (typeof info?.outgoing?.on === 'function') return new NodeHost(info.incoming ?? {}, info.outgoing)
    if (typeof info?.completed?.then === 'function') return new DenoHost(info.completed)
  }
  return undefined
}

class NodeHost implements EndingHost {
  readonly #incoming: NodeRequest
  readonly #outgoing: NodeResponse
  readonly #isHttp2: boolean
  readonly #carrier: Carrier | undefined

  constructor(incoming: NodeRequest, outgoing: NodeResponse) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#isHttp2 = (incoming.httpVersionMajor ?? 1) >= 2
    this.#carrier = this.#isHttp2 ? undefined : carrierOf(incoming)
  }

  // serverless functions have no connection, and responses of HTTP/2 no properties that show their end
  get reportsLeaving(): boolean {
    return this.#carrier !== undefined
  }

  get isOver(): boolean {
    return this.#outgoing.destroyed === true || this.#outgoing.closed === true
  }

  listen(end: HostEnd): () => void {
    const outgoing = this.#outgoing
    const ended = (): void => end(this.#isComplete, outgoing.statusCode)
    outgoing.on('close', ended)
    // responses of serverless functions may emit no `close`; HTTP/2 emits `finish` for HEAD before the handler has run
    if (!this.#isHttp2) outgoing.on('finish', ended)
    // Node.js before version 24 emits no `close` for a pipelined response whose turn never comes
    const forget = this.#carrier && onCarrierClose(this.#carrier, ended)
    return () => {
      forget?.()
      outgoing.off('close', ended)
      outgoing.off('finish', ended)
    }
  }

  get #isComplete(): boolean {
    const { writableFinished, errored = null } = this.#outgoing
    return writableFinished === true && errored === null && this.#incoming.aborted !== true
  }
}

function carrierOf({ socket }: NodeRequest): Carrier | undefined {
  const carrier = socket as Partial<Carrier> | null | undefined
  return typeof carrier?.prependOnceListener === 'function' ? (carrier as Carrier) : undefined
}

class DenoHost implements EndingHost {
  readonly isOver = false
  readonly reportsLeaving = false
  readonly #completed: PromiseLike<unknown>

  constructor(completed: PromiseLike<unknown>) {
    this.#completed = completed
  }

  listen(end: HostEnd): () => void {
    let run: HostEnd | undefined = end
    this.#completed.then(
      () => run?.(true),
      () => run?.(false),
    )
    return () => (run = undefined)
  }
}
