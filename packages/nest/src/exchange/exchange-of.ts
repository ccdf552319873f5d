import type { ExecutionContext } from '@nestjs/common'
import { processWideMap } from '@sluice/node-http/adapter'
import { CallExchange, isCall } from './call-exchange.ts'
import { type CallKind, HTTP } from './call-kind.ts'
import { httpExchange, type NestExchange } from './nest-exchange.ts'

// guards and interceptors receive different contexts with the same array of arguments
const calls = processWideMap<object, CallExchange>(Symbol.for('sluice.nest.calls@1'))

/** Returns the exchange of an HTTP request, or of a call without an HTTP response. */
export function exchangeOf(context: ExecutionContext): NestExchange {
  const args = context.getArgs()
  const [req, res] = args
  if (context.getType() === 'http' && req && (res?.raw ?? res)?.setHeader) return httpExchange(req, res)
  const known = calls().get(args) ?? new CallExchange(context)
  calls().set(args, known)
  return known
}

/** Returns the kind of a call whose limits apply. */
export function kindOf(exchange: NestExchange): CallKind {
  return isCall(exchange) ? exchange.kind : HTTP
}
