import { HttpException } from '@nestjs/common'
import { type Decision, type DeniedRequest, violatedNames } from '@sluice/node-http/adapter'

/** What a GraphQL client reads under `extensions` of the error. */
export interface DeniedExtensions {
  readonly code: 'SLUICE_DENIED'
  /** Whole seconds; absent where no wait helps. */
  readonly retryAfter?: number
  readonly violatedPolicies: readonly string[]
}

/**
 * A denial, for exception filters. `getStatus()` and `getResponse()` are the status and the problem of the usual
 * answer, whose headers stand on the response already.
 */
export class SluiceDenied extends HttpException {
  readonly code = 'SLUICE_DENIED'
  /** Whole seconds to wait; undefined where no wait helps. */
  readonly retryAfter: number | undefined
  /** Absent for a cap, which makes no decision. */
  readonly decision: Decision | undefined
  readonly extensions: DeniedExtensions

  constructor({ denial, decision }: Pick<DeniedRequest<never, never>, 'denial' | 'decision'>) {
    super(JSON.parse(denial.body), denial.status)
    const names = violatedNames(denial)
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
