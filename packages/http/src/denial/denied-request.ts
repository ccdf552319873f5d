import type { HeaderLine } from '@sluice/limiter-core/http'
import type { DeniedContext } from '../gates/options/gate-options.ts'
import type { RateLimitOptions } from '../gates/options/rate-limit-options.ts'
import type { LimiterReport } from '../report/limiter-report.ts'

/** Options of a limiter that decide how its denials are answered. */
interface AnswerOptions<Req, Res> extends Pick<RateLimitOptions<Req, Res>, 'denied' | 'message'> {
  /** Whether to pass an error to the framework instead of sending a response. */
  readonly next?: boolean | undefined
}

/** A denial, its header lines, and the answer options of the limiter that denied. */
export interface DeniedRequest<Req, Res> extends DeniedContext {
  readonly lines: readonly HeaderLine[]
  readonly answer: AnswerOptions<Req, Res>
  /** Report of the limiter that denied. */
  readonly report: LimiterReport
}
