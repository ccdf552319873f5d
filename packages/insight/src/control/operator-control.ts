import {
  type Channel,
  type Clock,
  everyTick,
  messageOf,
  type ObservedLimiter,
  SluiceError,
} from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import { AuditLog } from './audit-log.ts'
import type { AuditLine, ControlEntry, ControlOptions, ControlRequest } from './control.ts'
import { ControlBounds } from './control-bounds.ts'
import { ControlExchange } from './control-exchange.ts'
import { auditText, storedControl } from './control-request.ts'
import { ControlSet, MOST_CONTROLS } from './control-set.ts'
import { Steering } from './steering.ts'
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
/** Clocks of a fleet differ, and no change lasts longer than a day. */
const MOST_AHEAD_MS = 25 * 3_600_000

/** What operators change of the limiters that are watched. Nothing of a request waits for it, and without a change it costs nothing. */
export class OperatorControl implements InsightPart {
  readonly #deps: OperatorControlDeps
  readonly #set = new ControlSet()
  readonly #audit: AuditLog
  readonly #bounds: ControlBounds
  readonly #exchange: ControlExchange | undefined
  readonly #startedAt: number
  /** Undefined while there is nothing to end, and nothing to tell. */
  #stop: (() => void) | undefined
  /** Those that hold as of the last tick. */
  #active: readonly StoredControl[] = []
  #steering: Steering | undefined
  /** Why limits could not be changed everywhere here, by policy. */
  #failures = new Map<string, string>()
  #isClosed = false

  constructor(deps: OperatorControlDeps) {
    const { clock, options, fleet } = deps
    this.#deps = deps
    this.#audit = new AuditLog(options.audit)
    this.#bounds = new ControlBounds(options)
    this.#startedAt = clock.wall()
    const received = (controls: readonly StoredControl[]): void => this.#received(controls)
    const secret = fleet?.secret
    this.#exchange = fleet && secret !== undefined ? new ControlExchange({ ...fleet, secret, received }) : undefined
  }

  /** As its bounds say. */
  largestLimit(policy: string): number | undefined {
    return this.#bounds.of(policy)?.max
  }

  limiterOpened(limiter: ObservedLimiter): void {
    const { limiters } = this.#deps
    limiters.add(limiter)
    if (!this.#steering || this.#isClosed) return
    for (const [policy, why] of limiters.steer(limiter, this.#steering)) this.#failed(policy, why)
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
    return this.#steering?.modeOf(policy)
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
    const { limiters, hasPolicy, fleet } = this.#deps
    if (fleet && !this.#exchange) {
      throw new SluiceError(
        'SLUICE_SECRET_MISSING',
        'control: expected createInsight({ secret }) beside channel, received no secret',
      )
    }
    if (this.#isClosed)
      throw new SluiceError('SLUICE_BAD_OPTION', 'control: expected an open one, received a closed insight')
    const at = this.#wall()
    const known = { bounds: this.#bounds, hasPolicy: (name: string) => limiters.has(name) || hasPolicy(name) }
    // later than all that is known, so that it has the last word where clocks differ, too
    const control = { ...storedControl(request, known, at), at: Math.max(at, this.#set.latestAt + 1) }
    if (this.#set.active(at).length >= MOST_CONTROLS || this.#set.merge([control], at).length === 0) {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `control: expected fewer, received a change beyond ${MOST_CONTROLS} at once`,
      )
    }
    this.#refresh()
    const why = this.#failureOf(control)
    if (why !== undefined) {
      this.#set.drop(control.id)
      this.#refresh()
      throw new SluiceError('SLUICE_BAD_LIMIT', `control: ${why}`)
    }
    this.#audit.add('begun', this.#entry(control), at)
    await Promise.all([this.#resetKey(control, true), this.#send(true)])
    return this.#entry(control)
  }

  /** Ends a change before its time. False where none of that id holds. */
  async undo(id: string, by = 'code'): Promise<boolean> {
    const undoneBy = auditText('by', by)
    const at = this.#wall()
    const known = this.#set.find(id)
    if (this.#isClosed || !known || !isActive(known, at) || known.change.action === 'reset') return false
    const undone = { ...known, undoneAt: at, undoneBy }
    this.#set.merge([undone], at)
    this.#audit.add('undone', this.#entry(undone), at)
    this.#refresh()
    await this.#send(true)
    return true
  }

  /** What was changed is as it was built. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop?.()
    this.#exchange?.close()
    this.#deps.limiters.control(new Steering([], () => this.#wall()))
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
    this.#refresh()
    this.#set.forget(at)
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
      } else if (this.#active.some(({ id }) => id === control.id))
        this.#audit.add('undone', this.#entry(this.#set.find(control.id) ?? control), at)
    }
    this.#refresh()
  }

  /** What another process began. */
  #begin(control: StoredControl): void {
    const at = this.#wall()
    if (!isActive(control, at)) return
    this.#audit.add('begun', this.#entry(control), at)
    this.#refresh()
    const why = this.#failureOf(control)
    if (why !== undefined) this.#audit.add('failed', this.#entry(control), at, why)
  }

  /** Steers by what holds now. */
  #refresh(): void {
    if (!this.#set.isEmpty) this.#stop ??= everyTick(this.#deps.clock, TICK_MS, () => this.#tick())
    const active = this.#holding()
    const isSame = active.length === this.#active.length && active.every((one, index) => one === this.#active[index])
    if (isSame) return
    for (const one of this.#active) this.#end(one)
    this.#active = active
    const allowed = active.filter((one) => this.#isInBounds(one))
    this.#steering = new Steering(allowed, () => this.#wall())
    this.#failures = this.#deps.limiters.control(this.#steering)
  }

  /** Writes down that a change is over, unless it was undone, or never held. */
  #end({ id }: StoredControl): void {
    const known = this.#set.find(id)
    const at = this.#wall()
    if (known?.undoneAt === undefined && known && !isActive(known, at)) this.#audit.add('ended', this.#entry(known), at)
  }

  /** Why a change does not hold everywhere in this process. */
  #failureOf(control: StoredControl): string | undefined {
    const { change } = control
    if (change.action !== 'limit') return undefined
    return this.#isInBounds(control)
      ? this.#failures.get(change.policy)
      : 'its limit is not within the bounds of this process'
  }

  /** A limiter that was built later cannot have a limit; told once of each. */
  #failed(policy: string, why: string): void {
    if (this.#failures.has(policy)) return
    this.#failures.set(policy, why)
    const last = this.#active.findLast(({ change }) => change.action === 'limit' && change.policy === policy)
    if (last) this.#audit.add('failed', this.#entry(last), this.#wall(), why)
  }

  #isInBounds({ change }: StoredControl): boolean {
    return change.action !== 'limit' || this.#bounds.admits(change.policy, change.limit)
  }

  /** In all counts where this process was asked, elsewhere in those that no other process has. */
  async #resetKey(control: StoredControl, isOwn: boolean): Promise<void> {
    const { change } = control
    if (change.action !== 'reset' || (!isOwn && control.at < this.#startedAt)) return
    const { key, policy: name } = change
    const meant = this.#deps.limiters
      .policies()
      .filter(({ policy }) => (isOwn || policy.perProcess) && (name === undefined || policy.policy.name === name))
    try {
      // each of them, also where another one throws
      await Promise.all(meant.map(async ({ limiter, index }) => limiter.reset(index, key)))
    } catch (error) {
      this.#audit.add('failed', this.#entry(control), this.#wall(), messageOf(error))
    }
  }

  #send(urgent: boolean): Promise<void> | undefined {
    return this.#exchange?.send(this.#set.all(), urgent)
  }
}
