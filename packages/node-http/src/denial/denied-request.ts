import type { DeniedContext, HeaderLine, LimiterReport, RateLimitOptions } from '@sluice/limiter-core/http'

/** How a limiter wants its denials answered. */
interface AnswerOptions<Req, Res> extends Pick<RateLimitOptions<Req, Res>, 'denied'> {
  /** Hands an error to the framework instead of answering. */
  readonly next?: boolean | undefined
}

/** A denial, the header lines that go with it, and how whoever denied wants it answered. */
export interface DeniedRequest<Req, Res> extends DeniedContext {
  readonly lines: readonly HeaderLine[]
  readonly answer: AnswerOptions<Req, Res>
  /** Of the limiter that denied. */
  readonly report: LimiterReport
}
