import { kindOf, SluiceError } from '@sluice/http'
import type { CallLimiter, CallTarget } from './call-limiter.ts'
import type { RawExtra, RawRequest } from './mcp-call.ts'

/** A `Server` of the SDK, which calls the handlers of requests. */
interface HandlerRegistry {
  setRequestHandler(...args: never[]): unknown
  /** Throws if there is a handler for the method. */
  assertCanSetRequestHandler?(method: string): void
}

/** An `McpServer` or a `Server` of the SDK, version 1 or 2. */
export type LimitableServer = HandlerRegistry | { readonly server: HandlerRegistry }

type Handler = (received: unknown, extra: RawExtra, ...rest: unknown[]) => unknown
type Register = (...args: unknown[]) => unknown

/**
 * Puts limits in front of all handlers that a server registers from now on. `McpServer` registers one handler for all
 * calls when it receives its first tool. Throws `SLUICE_BAD_OPTION` if a handler exists already.
 */
export function limitHandlers<Server extends LimitableServer>(
  server: Server,
  methods: readonly string[],
  targetOf: (request: RawRequest) => CallTarget | undefined,
  limiter: CallLimiter,
): Server {
  const registry = registryOf(server)
  for (const method of methods) requireNoHandler(registry, method)
  const limited = (handler: Handler, method: string | undefined): Handler => {
    return (received, extra, ...rest) => {
      const request = method === undefined ? received : { method, params: received as RawRequest['params'] }
      const target = targetOf(request as RawRequest)
      const run = (): unknown => handler(received, extra, ...rest)
      return target ? limiter.answer(request as RawRequest, extra, target, run) : run()
    }
  }
  const register = registry.setRequestHandler as Register
  registry.setRequestHandler = function (this: unknown, ...args: unknown[]): unknown {
    // version 2 also accepts (method, schemas, handler); that handler receives parameters instead of a request
    const [place, method] = typeof args[1] === 'function' ? [1, undefined] : [2, String(args[0])]
    const handler = args[place]
    if (typeof handler !== 'function') return register.apply(this, args)
    return register.apply(this, args.with(place, limited(handler as Handler, method)))
  }
  return server
}

function registryOf(server: unknown): HandlerRegistry {
  for (const one of [(server as { readonly server?: unknown } | null | undefined)?.server, server]) {
    if (typeof (one as Partial<HandlerRegistry> | null | undefined)?.setRequestHandler === 'function')
      return one as HandlerRegistry
  }
  throw new SluiceError(
    'SLUICE_BAD_OPTION',
    `limitTools: apply: expected an McpServer or a Server of the MCP SDK, received ${kindOf(server)}`,
  )
}

function requireNoHandler(registry: HandlerRegistry, method: string): void {
  try {
    registry.assertCanSetRequestHandler?.(method)
  } catch {
    const expected = `a server without a handler for ${method}; call apply before you register the first one`
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `limitTools: apply: expected ${expected}, received a server that has one`,
    )
  }
}
