import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionContext } from '@nestjs/common'
import { Exchange, RequestLife, systemClock } from '@sluice/node-http/adapter'
import { type CallKind, callKindOf } from './call-kind.ts'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'

/** A connection of a client; without the property if the call does not belong to a connection. */
interface Connection {
  readonly destroyed?: boolean
}

/**
 * Lifecycle of a call without an HTTP response. It ends when the handler has finished. A client that leaves before the
 * handler has started, because the call was delayed or waits for a place, no longer needs it.
 */
export class CallLife extends RequestLife {
  readonly #startedAt = systemClock.now()
  readonly #connection: Connection

  constructor(connection: Connection) {
    super()
    this.#connection = connection
  }

  override get gone(): boolean {
    return this.ended || this.#connection.destroyed === true
  }

  protected override listen(): boolean {
    return !this.gone
  }

  end(completed: boolean): void {
    this.endAs({ completed, durationMs: systemClock.now() - this.#startedAt })
  }
}

/** Stands in for the response of a call. It is never sent, and never ends. */
const NO_RESPONSE = { headersSent: false, writableEnded: false } as ServerResponse

/** A call of a GraphQL resolver, or a message of a gateway or microservice. It is counted, but has no HTTP response. */
export class CallExchange extends Exchange<PlatformRequest, PlatformResponse> {
  readonly call: CallLife
  readonly route: string
  readonly kind: CallKind
  readonly ip: string | undefined

  constructor(context: ExecutionContext) {
    const raw = requestOf(context)
    const request = comesFromHttp(context) ? (raw?.raw ?? raw?.request ?? raw?.extra?.request ?? raw) : undefined
    const socket = request?.socket ?? request?._socket ?? {}
    const call = new CallLife(socket)
    const incoming = {
      headers: request?.headers ?? request?.handshake?.headers ?? {},
      rawHeaders: request?.rawHeaders ?? [],
      method: context.getType().toUpperCase(),
      httpVersionMajor: 1,
      socket,
      sluice: call,
    }
    super(raw, undefined, incoming as unknown as IncomingMessage, NO_RESPONSE)
    this.call = call
    this.kind = callKindOf(context)
    this.ip = request && (raw?.ip ?? raw?.handshake?.address ?? this.peer)
    this.route = `${context.getClass().name}.${context.getHandler().name}`
  }

  /** Type of the call, such as `GRAPHQL` or `WS`. */
  override get routeMethod(): string {
    return this.method
  }

  // true, so that nothing is written
  override get isAnswered(): boolean {
    return true
  }

  override setLines(): boolean {
    return false
  }
}

/** Whether an exchange is a `CallExchange`, of this or another copy of the package. */
export function isCall(exchange: object): exchange is CallExchange {
  return 'call' in exchange
}

/** Whether a call belongs to an HTTP connection. Arguments of other calls could contain a forged address. */
function comesFromHttp(context: ExecutionContext): boolean {
  return ['graphql', 'ws'].includes(context.getType<string>())
}

/** Returns what key functions receive: the HTTP request of a GraphQL call, the client of a socket, or a context. */
function requestOf(context: ExecutionContext): PlatformRequest {
  const [first, second, third] = context.getArgs()
  const type = context.getType<string>()
  if (type === 'graphql') return third?.req ?? third?.request ?? third?.extra?.request ?? third
  // the first argument of a message is its data
  return type === 'rpc' ? second : first
}
