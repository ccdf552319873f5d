import type { Decision, ObservedCap, Observer } from '@sluice/limiter-core'
import { badOption, optionsOf } from '@sluice/limiter-core/backend'

/** The used subset of `Span` of `@opentelemetry/api`. */
interface OtelSpan {
  isRecording(): boolean
  setAttribute(name: string, value: string | boolean): unknown
}

/** The used subset of `trace` of `@opentelemetry/api`. */
export interface OtelTrace {
  getActiveSpan(): OtelSpan | undefined
}

export interface OtelSpansOptions {
  /** `trace` of `@opentelemetry/api`. */
  readonly trace: OtelTrace
}

/**
 * Creates an observer that describes decisions on the active span of OpenTelemetry: `sluice.decision` (`allowed`,
 * `denied` or `shadow-denied`), `sluice.policy` (the policy or the cap that it depends on), `sluice.source` (what
 * answered: a backend, a failure rule, `banned` or `cap`) and, if a failure rule allowed the request, `sluice.fail_open`.
 * Of several decisions for one span, a denial counts, then one in shadow mode, then the last one. Keys are not part of
 * spans. Throws `SLUICE_BAD_OPTION`.
 */
export function otelSpans(options: OtelSpansOptions): Observer {
  const { trace } = optionsOf('otelSpans', options, ['trace'])
  if (typeof trace?.getActiveSpan !== 'function') {
    throw badOption('otelSpans: trace', trace, 'trace of @opentelemetry/api')
  }
  return new SpanObserver(trace)
}

const RESULTS = ['allowed', 'shadow-denied', 'denied'] as const

class SpanObserver implements Observer {
  readonly #trace: OtelTrace
  /** The place of the result in `RESULTS` that a span has. */
  readonly #results = new WeakMap<OtelSpan, number>()

  constructor(trace: OtelTrace) {
    this.#trace = trace
  }

  decided(_key: string, decision: Decision): void {
    const span = this.#recording()
    if (!span) return
    const { allowed, binding, counted, source, verdicts } = decision
    if (allowed && !counted) span.setAttribute('sluice.fail_open', true)
    const shadow = allowed ? verdicts.find((verdict) => verdict.shadow && !verdict.allowed) : undefined
    const allowedAs = shadow ? 1 : 0
    this.#describe(span, allowed ? allowedAs : 2, (shadow ?? binding).policy.name, source)
  }

  capDenied(_key: string, { name }: ObservedCap): void {
    const span = this.#recording()
    if (span) this.#describe(span, 2, name, 'cap')
  }

  #recording(): OtelSpan | undefined {
    const span = this.#trace.getActiveSpan()
    return span?.isRecording() ? span : undefined
  }

  #describe(span: OtelSpan, result: number, policy: string, source: string): void {
    if (result < (this.#results.get(span) ?? 0)) return
    this.#results.set(span, result)
    span.setAttribute('sluice.decision', RESULTS[result])
    span.setAttribute('sluice.policy', policy)
    span.setAttribute('sluice.source', source)
  }
}
