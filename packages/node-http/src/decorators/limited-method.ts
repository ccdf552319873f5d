import { kindOf, SluiceError, warnOnce } from '@sluice/limiter-core/http'

/** A handler of whatever framework. */
export type AnyHandler = (this: unknown, ...args: unknown[]) => unknown

/** A limit as every framework mounts it: it can stand in front of a single handler. */
export interface Wrapping {
  wrap(handler: AnyHandler): AnyHandler
}

// a fourth one makes an error handler in Express, and what it is called with first is no request
const MOST_PARAMETERS = 3

/**
 * `method` behind `limit`, with its `this`, its name and its number of parameters. `label` names it in messages. A call
 * that shows no request goes through uncounted, and is warned about once.
 */
export function limitedMethod(limit: Wrapping, method: AnyHandler, label: string): AnyHandler {
  if (method.length > MOST_PARAMETERS) {
    throw new SluiceError(
      'SLUICE_BAD_OPTION',
      `${label}: expected at most ${MOST_PARAMETERS}: a handler of requests, not of errors, received ${method.length} parameters`,
    )
  }
  function limited(this: unknown, ...args: unknown[]): unknown {
    if (!isShownRequest(args)) {
      warnOnce('SLUICE_BAD_OPTION', () => notCounted(label, args), label)
      return method.apply(this, args)
    }
    let waited = false
    const run = (...handed: unknown[]): unknown =>
      // who called may still catch what is thrown at once; later there is its `next`, or the promise that it got
      waited && typeof args[2] !== 'function' ? inPromise(() => method.apply(this, handed)) : method.apply(this, handed)
    const answer = limit.wrap(run)(...args)
    waited = true
    return answer
  }
  // Express tells by the length what a function is for, and frameworks show the name
  return Object.defineProperties(limited, {
    name: { value: method.name, configurable: true },
    length: { value: method.length, configurable: true },
  })
}

async function inPromise(work: () => unknown): Promise<unknown> {
  return work()
}

/** Every framework calls a handler with something that has headers, and with something to answer by. */
function isShownRequest([request, answer]: readonly unknown[]): boolean {
  if (!isObject(request) || !isObject(request.headers)) return false
  // a context of Koa is both
  return isObject(answer) || typeof answer === 'function' || (isObject(request.req) && isObject(request.res))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function notCounted(label: string, args: readonly unknown[]): string {
  const got =
    args
      .slice(0, 2)
      .map((arg) => kindOf(arg))
      .join(', ') || 'no arguments'
  return `${label}: called with ${got}, and not counted: expected all that the framework calls a handler with`
}
