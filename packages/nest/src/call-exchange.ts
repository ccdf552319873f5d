import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionContext } from '@nestjs/common'
import { Exchange, RequestLife, systemClock } from '@sluice/node-http/adapter'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'

/** Lifecycle of a call without an HTTP response. It ends when the handler has finished. */
export class CallLife extends RequestLife {
  readonly #startedAt = systemClock.now()

  override get gone(): boolean {
    return this.ended
  }

  protected override listen(): boolean {
    return !this.ended
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

  constructor(context: ExecutionContext) {
    const raw = requestOf(context)
    const call = new CallLife()
    const request = raw?.raw ?? raw?.request ?? raw?.extra?.request ?? raw
    const incoming = {
      headers: request?.headers ?? raw?.handshake?.headers ?? {},
      rawHeaders: request?.rawHeaders ?? [],
      method: context.getType().toUpperCase(),
      httpVersionMajor: 1,
      socket: request?.socket ?? raw?._socket ?? {},
      sluice: call,
    }
    super(raw, undefined, incoming as unknown as IncomingMessage, NO_RESPONSE)
    this.call = call
    this.route = `${context.getClass().name}.${context.getHandler().name}`
  }

  get ip(): string | undefined {
    return this.raw?.ip ?? this.raw?.handshake?.address ?? this.peer
  }

  /** Type of the call, such as `GRAPHQL` or `WS`. */
  override get routeMethod(): string {
    return this.method
  }

  // true, so that nothing is written
  override get isAnswered(): boolean {
    return true
  }
}

/** Whether an exchange is a `CallExchange`, of this or another copy of the package. */
export function isCall(exchange: object): exchange is CallExchange {
  return 'call' in exchange
}

/** Returns what key functions receive: the HTTP request of a GraphQL call, the client of a socket, or a context. */
function requestOf(context: ExecutionContext): PlatformRequest {
  const [first, second, third] = context.getArgs()
  const type = context.getType<string>()
  if (type === 'graphql') return third?.req ?? third?.request ?? third?.extra?.request ?? third
  // in other types of calls the first argument is data from the sender, which could contain a forged address
  return type === 'ws' ? first : second
}
