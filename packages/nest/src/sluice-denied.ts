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
 * document of the default response. Its headers are already set on the response. It has no stack.
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
    const problem: Record<string, unknown> = JSON.parse(denial.body)
    const names = denial.violated
    const { stackTraceLimit } = Error
    // a stack would show the calls of Nest that lead to the guard, and V8 needs longer for it than for the whole denial
    Reflect.set(Error, 'stackTraceLimit', 0)
    super(problem, denial.status)
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
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
