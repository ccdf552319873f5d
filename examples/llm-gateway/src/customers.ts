import type { Request } from 'express'

/** Customers by API key. A real gateway would ask its database. */
const customers: ReadonlyMap<string, string> = new Map([
  ['sk-ada', 'ada'],
  ['sk-bob', 'bob'],
])

/** Returns the customer of a request; undefined for an unknown API key. */
export function customerOf(req: Request): string | undefined {
  return customers.get(req.get('authorization')?.replace(/^Bearer /, '') ?? '')
}
