import { HttpException } from '@nestjs/common'
import type { Decision, DeniedRequest } from '@sluice/node-http/adapter'

/** The `extensions` of the error that a GraphQL client receives. */
export interface DeniedExtensions {
  readonly code: 'SLUICE_DENIED'
  /** Seconds until the request can succeed, an integer; missing if it never can. */
  readonly retryAfter?: number
  readonly violatedPolicies: readonly string[]
}

/**
 * Exception of a denial, for exception filters. `getStatus()` and `getResponse()` return the status and the problem
 * document of the default response. Its headers are already set on the response.
 */
export class SluiceDenied extends HttpException {
  readonly code = 'SLUICE_DENIED'
  /** Seconds until the request can succeed, an integer; undefined if it never can. */
  readonly retryAfter: number | undefined
  /** Undefined for a cap, which makes no decision. */
  readonly decision: Decision | undefined
  readonly extensions: DeniedExtensions

  /** Whether an error is a `SluiceDenied` of this or another copy of the package, so that filters catch both. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    const { code, extensions } = Object(error) as Partial<SluiceDenied>
    return code === 'SLUICE_DENIED' && extensions?.code === code
  }

  constructor({ denial, decision }: Pick<DeniedRequest<never, never>, 'denial' | 'decision'>) {
    super(JSON.parse(denial.body), denial.status)
    const names = denial.violated
    this.message = `denied${names.length > 0 ? ` by ${names.join(', ')}` : ''}`
    this.retryAfter = denial.retryAfterSeconds
    this.decision = decision
    this.extensions = {
      code: this.code,
      ...(this.retryAfter !== undefined && { retryAfter: this.retryAfter }),
      violatedPolicies: names,
    }
  }
}
