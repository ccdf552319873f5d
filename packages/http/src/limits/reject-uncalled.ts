import { SluiceError } from '@sluice/limiter-core'

const MAKERS = ['rateLimit', 'inflightLimit', 'slowDown', 'shed'] as const

/**
 * Makes `rateLimit`, `inflightLimit`, `slowDown` and `shed` throw if they are mounted without being called: with
 * `app.use(rateLimit)`, every request would receive a 500. `property` is a property that the framework reads from each
 * mounted function. Returns `makers`.
 */
export function rejectUncalled<T extends Readonly<Record<(typeof MAKERS)[number], unknown>>>(
  makers: T,
  property: string,
): T {
  for (const name of MAKERS) {
    Object.defineProperty(makers[name], property, {
      get() {
        const message = `app.use: expected the result of ${name}({ … }), received the function ${name} itself`
        throw new SluiceError('SLUICE_BAD_OPTION', message)
      },
    })
  }
  return makers
}
