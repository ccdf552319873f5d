import {
  type Channel,
  type Clock,
  everyTick,
  messageOf,
  type ObservedLimiter,
  SluiceError,
} from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import { ActiveControls } from './active-controls.ts'
import { AuditLog } from './audit-log.ts'
import type { AuditLine, ControlEntry, ControlOptions, ControlRequest, LimitBounds } from './control.ts'
import { ControlExchange } from './control-exchange.ts'
import { storedControl } from './control-request.ts'
import { ControlSet, MOST_CONTROLS } from './control-set.ts'
import { entryOf, isActive, type StoredControl } from './stored-control.ts'
import type { WatchedLimiters } from './watched-limiters.ts'

export interface OperatorControlDeps {
  readonly clock: Clock
  readonly limiters: WatchedLimiters
  /** How a key is shown. */
  readonly shown: (key: string) => string
  /** Whether another process has a policy of that name. */
  readonly hasPolicy: (name: string) => boolean
  readonly options: ControlOptions
  /** How changes reach other processes; undefined: they hold in this one. */
  readonly fleet?:
    | { readonly channel: Channel; readonly topic: string; readonly secret: string | undefined }
    | undefined
}

const TICK_MS = 1_000
const OUT_OF_BOUNDS = new Error('its limit is not within the bounds of this process')
/** Clocks of a fleet differ, and no change lasts longer than a day. */
const MOST_AHEAD_MS = 25 * 3_600_000

/** What operators change of the limiters that are watched. Nothing of a request waits for it, and without a change it costs nothing. */
export class OperatorControl implements InsightPart {
  readonly #deps: OperatorControlDeps
  readonly #set = new ControlSet()
  readonly #audit: AuditLog
  readonly #exchange: ControlExchange | undefined
  readonly #startedAt: number
  /** Undefined while there is nothing to end, and nothing to tell. */
  #stop: (() => void) | undefined
  /** Those that hold as of the last tick. */
  #active: readonly StoredControl[] = []
  #controls: ActiveControls | undefined
  /** Changes of other processes that cannot hold in this one. */
  readonly #unfit = new Set<string>()

  constructor(deps: OperatorControlDeps) {
    const { clock, options, fleet } = deps
    this.#deps = deps
    this.#audit = new AuditLog(options.audit)
    this.#startedAt = clock.wall()
    const received = (controls: readonly StoredControl[]): void => this.#received(controls)
    const secret = fleet?.secret
    this.#exchange = fleet && secret !== undefined ? new ControlExchange({ ...fleet, secret, received }) : undefined
  }

  /** As its bounds say. */
  largestLimit(policy: string): number | undefined {
    return this.#boundsOf(policy)?.max
  }

  limiterOpened(limiter: ObservedLimiter): void {
    const { limiters } = this.#deps
    limiters.add(limiter)
    if (this.#active.length > 0) this.#apply()
  }

  limiterClosed(limiter: ObservedLimiter): void {
    this.#deps.limiters.remove(limiter)
  }

  /** Those that hold now, latest first. */
  get entries(): ControlEntry[] {
    return this.#holding().reverse().map(this.#entry)
  }

  /** Those that hold for a key: of the key itself, and of its policies. */
  entriesOf(key: string): ControlEntry[] {
    const meant = this.#holding().filter(({ change }) => !('key' in change) || change.key === key)
    return meant.reverse().map(this.#entry)
  }

  /** How a policy is switched, where it is. */
  modeOf(policy: string): 'shadow' | 'off' | undefined {
    return this.#controls?.policies.get(policy)?.mode
  }

  get audit(): readonly AuditLine[] {
    return this.#audit.lines
  }

  /** Messages that could not be read. */
  get refused(): number {
    return this.#exchange?.refused ?? 0
  }

  /** Answers when it holds here and is on its way to all others. Rejects with a coded error, and changes nothing then. */
  async control(request: ControlRequest): Promise<ControlEntry> {
    const { limiters, hasPolicy, options, fleet } = this.#deps
    if (fleet && !this.#exchange) {
      throw new SluiceError(
        'SLUICE_SECRET_MISSING',
        'control: got no secret, expected createInsight({ secret }) beside channel',
      )
    }
    const at = this.#wall()
    const known = { bounds: options.limits ?? {}, hasPolicy: (name: string) => limiters.has(name) || hasPolicy(name) }
    // later than all that is known, so that it has the last word where clocks differ, too
    const control = { ...storedControl(request, known, at), at: Math.max(at, this.#set.latestAt + 1) }
    if (this.#set.active(at).length >= MOST_CONTROLS || this.#set.merge([control], at).length === 0) {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `control: got a change beyond ${MOST_CONTROLS} at once, expected fewer`,
      )
    }
    const refusal = this.#refresh()
    if (refusal !== undefined) {
      this.#set.drop(control.id)
      this.#refresh()
      throw refusal
    }
    this.#audit.add('begun', this.#entry(control), at)
    await Promise.all([this.#resetKey(control, true), this.#send(true)])
    return this.#entry(control)
  }

  /** Ends a change before its time. False where none of that id holds. */
  async undo(id: string, by = 'code'): Promise<boolean> {
    const at = this.#wall()
    const known = this.#set.find(id)
    if (!known || !isActive(known, at) || known.change.action === 'reset') return false
    const undone = { ...known, undoneAt: at, undoneBy: by }
    this.#set.merge([undone], at)
    this.#audit.add('undone', this.#entry(undone), at)
    this.#refresh()
    await this.#send(true)
    return true
  }

  /** What was changed is as it was built. */
  async close(): Promise<void> {
    this.#stop?.()
    this.#exchange?.close()
    this.#deps.limiters.control(undefined, undefined)
  }

  readonly #entry = (control: StoredControl): ControlEntry => entryOf(control, this.#deps.shown)

  /** Oldest first. A reset is done at once, and nothing of it holds. */
  #holding(): StoredControl[] {
    return this.#set.active(this.#wall()).filter(({ change }) => change.action !== 'reset')
  }

  #wall(): number {
    return this.#deps.clock.wall()
  }

  #tick(): void {
    const at = this.#wall()
    for (const one of this.#active) {
      const known = this.#set.find(one.id) ?? one
      if (known.undoneAt === undefined && !isActive(known, at)) this.#audit.add('ended', this.#entry(known), at)
    }
    this.#refresh()
    this.#set.forget(at)
    for (const id of this.#unfit) if (!this.#set.find(id)) this.#unfit.delete(id)
    if (!this.#set.isEmpty) {
      void this.#send(false)
      return
    }
    this.#stop?.()
    this.#stop = undefined
  }

  #received(controls: readonly StoredControl[]): void {
    const at = this.#wall()
    for (const control of this.#set.merge(
      controls.filter((one) => one.endsAt < at + MOST_AHEAD_MS),
      at,
    )) {
      if (control.undoneAt === undefined) {
        this.#begin(control)
        void this.#resetKey(control, false)
      } else if (this.#active.some(({ id }) => id === control.id)) this.#audit.add('undone', this.#entry(control), at)
    }
    this.#refresh()
  }

  /** What another process began. */
  #begin(control: StoredControl): void {
    const at = this.#wall()
    if (!isActive(control, at)) return
    this.#audit.add('begun', this.#entry(control), at)
    const refusal = this.#isInBounds(control) ? this.#refresh() : OUT_OF_BOUNDS
    if (refusal === undefined) return
    this.#unfit.add(control.id)
    this.#active = []
    this.#refresh()
    this.#audit.add('failed', this.#entry(control), at, messageOf(refusal))
  }

  /** Steers by what holds now. Answers why a limiter could not be steered so. */
  #refresh(): unknown {
    if (!this.#set.isEmpty) this.#stop ??= everyTick(this.#deps.clock, TICK_MS, () => this.#tick())
    const active = this.#holding().filter(({ id }) => !this.#unfit.has(id))
    const isSame = active.length === this.#active.length && active.every((one, index) => one === this.#active[index])
    if (isSame) return undefined
    this.#active = active
    return this.#apply()
  }

  #apply(): unknown {
    const now = (): number => this.#wall()
    const controls = new ActiveControls(this.#active, now)
    const fallback = new ActiveControls(this.#active, now, false)
    this.#controls = controls
    return this.#deps.limiters.control(controls.isEmpty ? undefined : controls, fallback.isEmpty ? undefined : fallback)
  }

  #isInBounds({ change }: StoredControl): boolean {
    if (change.action !== 'limit') return true
    const bounds = this.#boundsOf(change.policy)
    return bounds !== undefined && change.limit >= bounds.min && change.limit <= bounds.max
  }

  #boundsOf(policy: string): LimitBounds | undefined {
    const { limits = {} } = this.#deps.options
    return Object.hasOwn(limits, policy) ? limits[policy] : undefined
  }

  /** In all counts where this process was asked, elsewhere in those that no other process has. */
  async #resetKey(control: StoredControl, isOwn: boolean): Promise<void> {
    const { change } = control
    if (change.action !== 'reset' || (!isOwn && control.at < this.#startedAt)) return
    const { key, policy: name } = change
    const resets = this.#deps.limiters.policies().flatMap(({ limiter, index, policy }) => {
      const isMeant = (isOwn || policy.perProcess) && (name === undefined || policy.policy.name === name)
      return isMeant ? [limiter.reset(index, key)] : []
    })
    try {
      await Promise.all(resets)
    } catch (error) {
      this.#audit.add('failed', this.#entry(control), this.#wall(), messageOf(error))
    }
  }

  #send(urgent: boolean): Promise<void> | undefined {
    return this.#exchange?.send(this.#set.all(), urgent)
  }
}
