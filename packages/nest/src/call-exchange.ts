import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionContext } from '@nestjs/common'
import { Exchange, RequestLife, systemClock } from '@sluice/node-http/adapter'
import type { PlatformRequest, PlatformResponse } from './nest-exchange.ts'

/** The life of a call that has no response of its own: it ends when its handler is done. */
export class CallLife extends RequestLife {
  readonly #startedAt = systemClock.now()

  override get gone(): boolean {
    return this.ended
  }

  protected override listen(): void {}

  end(completed: boolean): void {
    this.endAs({ completed, durationMs: systemClock.now() - this.#startedAt })
  }
}

/** What a call has in the place of a response: nothing of it is ever sent, and so it never ends. */
const NO_RESPONSE = { headersSent: false, writableEnded: false } as ServerResponse

/** A call of a GraphQL resolver or of a gateway's message: it is counted, and there is no response to write to. */
export class CallExchange extends Exchange<PlatformRequest, PlatformResponse> {
  readonly call: CallLife
  readonly route: string

  constructor(context: ExecutionContext) {
    const raw = requestOf(context)
    const call = new CallLife()
    const seen = raw?.raw ?? raw?.request ?? raw?.extra?.request ?? raw
    const incoming = {
      headers: seen?.headers ?? raw?.handshake?.headers ?? {},
      rawHeaders: seen?.rawHeaders ?? [],
      method: context.getType().toUpperCase(),
      httpVersionMajor: 1,
      socket: seen?.socket ?? raw?._socket ?? {},
      sluice: call,
    }
    super(raw, undefined, incoming as unknown as IncomingMessage, NO_RESPONSE)
    this.call = call
    this.route = `${context.getClass().name}.${context.getHandler().name}`
  }

  get ip(): string | undefined {
    return this.raw?.ip ?? this.raw?.handshake?.address ?? this.peer
  }

  /** The kind of the call. */
  override get routeMethod(): string {
    return this.method
  }

  // nothing is ever written
  override get answered(): boolean {
    return true
  }
}

/** What key functions are given: the HTTP request that carries a GraphQL call, the client of a socket, a context. */
function requestOf(context: ExecutionContext): PlatformRequest {
  const [first, second, third] = context.getArgs()
  const type = context.getType<string>()
  if (type === 'graphql') return third?.req ?? third?.request ?? third?.extra?.request ?? third
  // elsewhere the first one is what the sender wrote, who must not name its own address
  return type === 'ws' ? first : second
}
