import type { RequestView } from '@sluice/limiter-core/http'
import type { HttpExchange } from '../exchange.ts'
import { collapseDetector } from './collapse-warnings.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** A request as gates see it: its address is that of the client, as trusted proxies report it. */
export class ClientView<Req, Res> implements RequestView<Req> {
  readonly #exchange: HttpExchange<Req, Res>
  readonly #proxies: TrustedProxies | undefined
  #ip: string | undefined
  #isRead = false

  /** Without proxies, the address is the one that the framework determines. */
  constructor(exchange: HttpExchange<Req, Res>, proxies: TrustedProxies | undefined) {
    this.#exchange = exchange
    this.#proxies = proxies
  }

  // read only if the address is counted, so that only counted addresses are checked for collapsed clients
  get ip(): string | undefined {
    if (this.#isRead) return this.#ip
    this.#ip = this.#proxies ? this.#proxies.addressOf(this.#exchange) : this.#exchange.ip
    this.#isRead = true
    if (this.#ip !== undefined) collapseDetector.see(this.#ip, this.#exchange, this.#proxies)
    return this.#ip
  }

  get peer(): string | undefined {
    return this.#exchange.peer
  }

  get method(): string {
    return this.#exchange.method
  }

  get route(): string | undefined {
    return this.#exchange.route
  }

  get knowsRoutes(): boolean | undefined {
    return this.#exchange.knowsRoutes
  }

  get routeMethod(): string | undefined {
    return this.#exchange.routeMethod
  }

  get raw(): Req {
    return this.#exchange.raw
  }

  get outgoing(): unknown {
    return this.#exchange.outgoing
  }

  header(name: string): string | undefined {
    return this.#exchange.header(name)
  }
}
