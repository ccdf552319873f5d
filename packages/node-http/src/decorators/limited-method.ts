import { kindOf, SluiceError, warnOnce } from '@sluice/limiter-core/http'

/** A handler of any framework. */
export type AnyHandler = (this: unknown, ...args: unknown[]) => unknown

/** A mounted limit that can be put in front of a single handler. */
export interface Wrapping {
  wrap(handler: AnyHandler): AnyHandler
}

// Express treats a function with four parameters as an error handler, whose first argument is not a request
const MAX_PARAMETERS = 3

/**
 * Returns `method` behind `limit`, with the same `this`, name and number of parameters. `label` identifies it in
 * messages. A call without a request and a response is not counted, and prints one warning.
 */
export function limitedMethod(limit: Wrapping, method: AnyHandler, label: string): AnyHandler {
  if (method.length > MAX_PARAMETERS) {
    const expected = `expected a request handler with at most ${MAX_PARAMETERS} parameters`
    throw new SluiceError('SLUICE_BAD_OPTION', `${label}: ${expected}, received ${method.length} parameters`)
  }
  function limited(this: unknown, ...args: unknown[]): unknown {
    if (!isShownRequest(args)) {
      warnOnce('SLUICE_BAD_OPTION', () => notCounted(label, args), label)
      return method.apply(this, args)
    }
    let waited = false
    const run = (...handed: unknown[]): unknown =>
      // a synchronous error reaches the caller; a later error goes to `next`, or else rejects the returned promise
      waited && typeof args[2] !== 'function' ? inPromise(() => method.apply(this, handed)) : method.apply(this, handed)
    const answer = limit.wrap(run)(...args)
    waited = true
    return answer
  }
  // Express recognizes error handlers by `length`, and frameworks display `name`
  return Object.defineProperties(limited, {
    name: { value: method.name, configurable: true },
    length: { value: method.length, configurable: true },
  })
}

async function inPromise(work: () => unknown): Promise<unknown> {
  return work()
}

/** Whether the arguments start with a request, which has headers, and a response, as every framework passes them. */
export function isShownRequest([request, answer]: readonly unknown[]): boolean {
  if (!isObject(request) || !isObject(request.headers)) return false
  // a Koa context is both
  return isObject(answer) || typeof answer === 'function' || (isObject(request.req) && isObject(request.res))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function notCounted(label: string, args: readonly unknown[]): string {
  const received =
    args
      .slice(0, 2)
      .map((arg) => kindOf(arg))
      .join(', ') || 'no arguments'
  const expected = 'expected the request and the response of the framework'
  return `${label}: ${expected}, received ${received}; the call is not counted`
}
