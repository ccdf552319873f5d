import type { ExecutionContext } from '@nestjs/common'

/**
 * Kind of a call for limits: a type of context such as `rpc`, or one of the names below. Each kind has limits and counts
 * of its own.
 */
export type CallKind = string

/** HTTP requests, and the queries, mutations and subscriptions of GraphQL. */
export const HTTP = 'http'
/** Messages of WebSocket gateways. */
export const SOCKET = 'ws'
/** Fields of GraphQL below a query, mutation or subscription: they are resolved once per object. */
export const FIELD = 'field'
/** Calls without a type, from code that has created its own context. */
const UNTYPED = 'call'

/** Types of contexts whose limits are those of the module. */
export const TYPES_OF_MODULE: readonly string[] = [HTTP, 'graphql']

/** Returns the kind of a call that has no HTTP response. */
export function callKindOf(context: ExecutionContext): CallKind {
  const type = context.getType<string>()
  // the default type of contexts that are not created for a request
  if (type === 'http') return UNTYPED
  if (type !== 'graphql') return type
  const [, , , info] = context.getArgs()
  return info?.path?.prev === undefined ? HTTP : FIELD
}
