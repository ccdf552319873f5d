import type { ExecutionContext } from '@nestjs/common'
import { CallExchange } from './call-exchange.ts'
import { httpExchange, type NestExchange } from './nest-exchange.ts'

// guards and interceptors are given contexts of their own, around one array of arguments
const calls = new WeakMap<object, CallExchange>()

/** The exchange of what Nest is about to run: of a request over HTTP, or of a call that has no response. */
export function exchangeOf(context: ExecutionContext): NestExchange {
  const args = context.getArgs()
  const [req, res] = args
  if (context.getType() === 'http' && req && (res?.raw ?? res)?.setHeader) return httpExchange(req, res)
  const known = calls.get(args) ?? new CallExchange(context)
  calls.set(args, known)
  return known
}
