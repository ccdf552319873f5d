import { SluiceError } from '@sluice/limiter-core'

const MAKERS = ['rateLimit', 'inflightLimit', 'slowDown'] as const

/**
 * The same, which throw where a framework is handed them uncalled: `app.use(rateLimit)` would answer 500 to each request.
 * `property` is what the framework reads of a middleware.
 */
export function mustBeCalled<T extends Readonly<Record<(typeof MAKERS)[number], unknown>>>(
  makers: T,
  property: string,
): T {
  for (const name of MAKERS) {
    Object.defineProperty(makers[name], property, {
      get() {
        const expected = `expected what it makes: app.use(${name}({ … }))`
        throw new SluiceError('SLUICE_BAD_OPTION', `app.use: got ${name} itself, ${expected}`)
      },
    })
  }
  return makers
}
