import {
  andThen,
  DEFAULT_NAMES,
  type HttpDenial,
  headerText,
  httpDenial,
  isPreflight,
  isPromise,
  type MaybePromise,
  type Mode,
  modeOf,
  Observers,
  optionsOf,
  type Priority,
  parseMode,
  type RequestView,
} from '@sluice/limiter-core/http'
import { HealthShedder } from '../../overload/health/shedder.ts'
import { SHED_SIGNALS, shedderRules } from '../../overload/health/shedder-options.ts'
import { LimiterReport } from '../../report/limiter-report.ts'
import { isSkipped } from '../options/hook.ts'
import { withInherited } from '../options/inherited-options.ts'
import { checkPriorityOption, priorityOf } from '../options/request-priority.ts'
import { checkHooks, parseStatus } from '../options/request-rules.ts'
import type { ShedOptions } from './shed-options.ts'

/** Result of a check: the request is refused. */
export interface ShedCheck {
  readonly denial: HttpDenial
}

const OPTIONS = [
  ...SHED_SIGNALS,
  'name',
  'priority',
  'status',
  'trust',
  'skip',
  'mode',
  'message',
  'denied',
  'observers',
  'clock',
] as const

/**
 * Framework-independent part of `shed`: refuses requests while the process is overloaded. Never throws or rejects.
 * Results are synchronous if `skip` and `priority` are.
 */
export class ShedGate<Req, Res> {
  readonly options: ShedOptions<Req, Res>
  readonly name: string
  readonly mode: Mode
  /** Empty: a shedder writes no headers except `Retry-After`. */
  readonly shownNames: readonly string[] = []
  readonly report: LimiterReport
  readonly shedder: HealthShedder
  readonly #observers: Observers
  readonly #status: number
  readonly #adapterOptions: readonly string[]
  /** Whether this gate created its shedder, and closes it. */
  readonly #isOwn: boolean
  /** Denials by the seconds of `Retry-After`: a refusal must cost little. */
  readonly #denials: HttpDenial[] = []

  /**
   * `adapterOptions` are the names of options that only the adapter reads. `shedder`: of the part above, if the options
   * have no other signals.
   */
  constructor(options: ShedOptions<Req, Res>, adapterOptions: readonly string[] = [], shedder?: HealthShedder) {
    optionsOf('shed', options as object as Record<string, unknown>, [...OPTIONS, ...adapterOptions])
    const { name = DEFAULT_NAMES.shed, priority, status = 503, mode, observers } = options
    checkHooks(options, adapterOptions)
    checkPriorityOption(priority)
    if (mode !== undefined) parseMode(mode, 'mode')
    this.options = options
    this.#adapterOptions = adapterOptions
    this.name = headerText(name, 'name')
    this.mode = modeOf(mode)
    this.#status = parseStatus(status)
    this.#observers = new Observers(observers, () => [this.name])
    this.report = new LimiterReport(this.#observers, () => [this.name])
    this.#isOwn = shedder === undefined
    this.shedder = shedder ?? new HealthShedder(shedderRules(signalsOf(options)))
  }

  /**
   * Returns the gate for a part of the application. Omitted options are inherited. Without own signals, both parts
   * have one shedder, which then knows all requests.
   */
  below(options: ShedOptions<Req, Res>): ShedGate<Req, Res> {
    const { name: _name, ...shared } = this.options
    const isShared = SHED_SIGNALS.every((signal) => options[signal] === undefined)
    return new ShedGate(withInherited(options, shared), this.#adapterOptions, isShared ? this.shedder : undefined)
  }

  close(): void {
    if (this.#isOwn) this.shedder.close()
  }

  /** Returns undefined if the request may pass. */
  check(view: RequestView<Req>): MaybePromise<ShedCheck | undefined> {
    // a preflight costs as little as its refusal, which a browser would report as a CORS failure instead of a 503
    if (this.mode === 'off' || isPreflight(view)) return undefined
    const { skip } = this.options
    if (!skip) return this.#checkPriority(view)
    return andThen(isSkipped(skip, view, this.report), (yes) => (yes ? undefined : this.#checkPriority(view)))
  }

  #checkPriority(view: RequestView<Req>): MaybePromise<ShedCheck | undefined> {
    const priority = priorityOf(this.options.priority, view, this.report)
    return isPromise(priority) ? priority.then((one) => this.#decide(one)) : this.#decide(priority)
  }

  #decide(priority: Priority | undefined): ShedCheck | undefined {
    const shadow = this.mode === 'shadow'
    const refusal = this.shedder.check(priority, shadow)
    if (!refusal) return undefined
    const { pressure, probability, signal, retryAfterSeconds } = refusal
    if (this.#observers.any) {
      const policy = this.name
      this.#observers.event('shed', { policy, priority: priority ?? 'normal', pressure, probability, signal, shadow })
    }
    return shadow ? undefined : { denial: this.#denial(retryAfterSeconds) }
  }

  #denial(seconds: number): HttpDenial {
    this.#denials[seconds] ??= httpDenial(this.#status, [this.name], seconds * 1_000)
    return this.#denials[seconds]
  }
}

function signalsOf<Req, Res>(options: ShedOptions<Req, Res>): Partial<ShedOptions<Req, Res>> {
  const names: readonly string[] = [...SHED_SIGNALS, 'clock']
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)))
}
