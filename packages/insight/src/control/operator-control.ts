import type { CapHandle } from '@sluice/limiter-core'
import {
  type Channel,
  type Clock,
  messageOf,
  type ObservedLimiter,
  repeatEvery,
  SluiceError,
} from '@sluice/limiter-core/backend'
import type { InsightPart } from '../insight-part.ts'
import type { UnreadMessages } from '../unread-messages.ts'
import type { AppliedControls } from './applied-controls.ts'
import { AuditLog } from './audit-log.ts'
import type { AuditLine, ControlEntry, ControlOptions, ControlRequest } from './control.ts'
import { ControlArchive, type ControlArchiveOptions } from './control-archive.ts'
import type { ControlBounds } from './control-bounds.ts'
import { ControlExchange } from './control-exchange.ts'
import { pastEvents, wholeControls } from './control-history.ts'
import { auditText, storedControl } from './control-request.ts'
import { ControlSet, MAX_CONTROLS } from './control-set.ts'
import { entryOf, happensOnce, isActive, type StoredControl } from './stored-control.ts'
import type { WatchedCaps } from './watched-caps.ts'
import type { WatchedLimiters } from './watched-limiters.ts'

export interface OperatorControlDeps {
  readonly clock: Clock
  readonly limiters: WatchedLimiters
  readonly caps: WatchedCaps
  readonly bounds: ControlBounds
  readonly applied: AppliedControls
  /** Formats a key for display. */
  readonly shown: (key: string) => string
  /** Whether another process has a policy or a cap with this name. */
  readonly hasPolicy: (name: string) => boolean
  readonly hasCap: (name: string) => boolean
  /** Called when the bans of a key are lifted, in one policy or in all. */
  readonly lifted: (key: string, policy: string | undefined) => void
  /** Called with each line of the audit log. */
  readonly onAudit: ControlOptions['audit']
  /** Channel to the other processes. If undefined, changes apply to this process only. */
  readonly fleet?:
    | {
        readonly channel: Channel
        readonly topic: string
        readonly secret: string | undefined
        readonly unread: UnreadMessages
      }
    | undefined
  /** Store of changes. If undefined, changes end when all processes have stopped. */
  readonly stored?: Pick<ControlArchiveOptions, 'store' | 'secret' | 'topic' | 'unread' | 'failed'> | undefined
}

const TICK_MS = 1_000
/**
 * Received changes that begin or end later than this are ignored: 24 h, the maximum duration, plus 1 h of clock
 * difference. Own changes are dated after all known ones.
 */
const MAX_AHEAD_MS = 25 * 3_600_000

/**
 * Accepts changes of operators, in this process and from others, and records when they begin and end. Requests never
 * wait for it, and it adds no cost per request while no change is active.
 */
export class OperatorControl implements InsightPart {
  readonly #deps: OperatorControlDeps
  readonly #set = new ControlSet()
  readonly #audit: AuditLog
  readonly #exchange: ControlExchange | undefined
  readonly #archive: ControlArchive | undefined
  readonly #startedAt: number
  /** Stops the timer, which runs only while changes are stored. */
  #stop: (() => void) | undefined
  #isClosed = false

  constructor(deps: OperatorControlDeps) {
    const { clock, onAudit, fleet, stored } = deps
    this.#deps = deps
    this.#audit = new AuditLog(onAudit)
    this.#startedAt = clock.wall()
    const received = (controls: readonly StoredControl[]): void => this.#received(controls)
    const secret = fleet?.secret
    this.#exchange =
      fleet && secret !== undefined ? new ControlExchange({ ...fleet, clock, secret, received }) : undefined
    const restored = (controls: readonly StoredControl[]): void => this.#restored(controls)
    this.#archive = stored && new ControlArchive({ ...stored, clock, restored })
    if (!this.#archive) return
    void this.#archive.run()
    this.#keepTicking()
  }

  limiterOpened(limiter: ObservedLimiter): void {
    for (const { control, why } of this.#deps.applied.applyTo(limiter)) {
      this.#audit.add('failed', this.#entryOf(control), this.#wall(), why)
    }
  }

  capOpened(cap: CapHandle): void {
    this.#deps.applied.applyToCap(cap)
  }

  /** Active changes, latest first. */
  get entries(): ControlEntry[] {
    return this.#activeChanges().reverse().map(this.#entryOf)
  }

  /** Active changes that apply to a key: changes of the key itself, and of policies. */
  entriesOf(key: string): ControlEntry[] {
    const matching = this.#activeChanges().filter(({ change }) => !('key' in change) || change.key === key)
    return matching.reverse().map(this.#entryOf)
  }

  get audit(): readonly AuditLine[] {
    return this.#audit.lines
  }

  /**
   * Resolves when the change is active in this process and has been sent to the others. If it rejects (with a coded
   * error), nothing has changed.
   */
  async control(request: ControlRequest): Promise<ControlEntry> {
    const { limiters, caps, bounds, applied, hasPolicy, hasCap, fleet } = this.#deps
    if (fleet && !this.#exchange) {
      throw new SluiceError(
        'SLUICE_SECRET_MISSING',
        'createInsight: secret: expected a string (it encrypts changes over a channel), received undefined',
      )
    }
    if (this.#isClosed)
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        'control: the insight has been closed; create a new one to make changes',
      )
    const at = this.#wall()
    const known = {
      bounds,
      hasPolicy: (name: string) => limiters.has(name) || hasPolicy(name),
      hasCap: (name: string) => caps.has(name) || hasCap(name),
    }
    // must be later than all known changes to take precedence even if clocks differ
    const control = { ...storedControl(request, known, at), at: Math.max(at, this.#set.latestAt + 1) }
    if (this.#set.active(at).length >= MAX_CONTROLS || this.#set.merge([control], at).length === 0) {
      throw new SluiceError(
        'SLUICE_BAD_OPTION',
        `control: at most ${MAX_CONTROLS} changes can be active at once; undo a change first`,
      )
    }
    this.#refresh()
    const why = applied.failureOf(control)
    if (why !== undefined) {
      this.#set.drop(control.id)
      this.#refresh()
      throw new SluiceError('SLUICE_BAD_LIMIT', `control: ${why}`)
    }
    this.#audit.add('begun', this.#entryOf(control), at)
    await Promise.all([this.#applyOnce(control, true), this.#send(true), this.#archive?.keep(control)])
    return this.#entryOf(control)
  }

  /** Reverts a change before it expires. Resolves to false if no active change has this id. */
  async undo(id: string, by = 'code'): Promise<boolean> {
    const undoneBy = auditText('by', by)
    const at = this.#wall()
    const known = this.#set.find(id)
    if (this.#isClosed || !known || !isActive(known, at) || happensOnce(known.change)) return false
    const undone = { ...known, undoneAt: at, undoneBy }
    this.#set.merge([undone], at)
    this.#audit.add('undone', this.#entryOf(undone), at)
    this.#refresh()
    await Promise.all([this.#send(true), this.#archive?.keep(undone)])
    return true
  }

  /** Reverts all changes in this process. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop?.()
    this.#exchange?.close()
    this.#archive?.close()
    this.#deps.applied.replace([])
  }

  readonly #entryOf = (control: StoredControl): ControlEntry => entryOf(control, this.#deps.shown)

  /** Active changes, oldest first. Changes that happen once are never active. */
  #activeChanges(): StoredControl[] {
    return this.#set.active(this.#wall()).filter(({ change }) => !happensOnce(change))
  }

  #wall(): number {
    return this.#deps.clock.wall()
  }

  #tick(): void {
    const at = this.#wall()
    this.#refresh()
    this.#set.removeExpired(at)
    const isBehind = this.#archive?.isBehind === true
    if (isBehind) void this.#archive?.run()
    if (!this.#set.isEmpty) void this.#send(false)
    else if (!isBehind) {
      this.#stop?.()
      this.#stop = undefined
    }
  }

  #keepTicking(): void {
    this.#stop ??= repeatEvery(this.#deps.clock, TICK_MS, () => this.#tick())
  }

  /** Applies the stored changes that have not ended, and restores the audit log. */
  #restored(controls: readonly StoredControl[]): void {
    const at = this.#wall()
    const all = wholeControls(controls)
    const active = all.filter((one) => isActive(one, at) && Math.max(one.at, one.endsAt) < at + MAX_AHEAD_MS)
    const past = all.filter(({ id }) => !this.#audit.has(id) && !active.some((one) => one.id === id))
    for (const control of this.#set.merge(active, at)) this.#apply(control, control.at)
    this.#audit.restore(past.flatMap((one) => pastEvents(one, at, this.#entryOf(one))))
  }

  #received(controls: readonly StoredControl[]): void {
    const at = this.#wall()
    for (const control of this.#set.merge(
      controls.filter((one) => Math.max(one.at, one.endsAt) < at + MAX_AHEAD_MS),
      at,
    )) {
      if (control.undoneAt === undefined) {
        this.#apply(control, at)
        void this.#applyOnce(control, false)
      } else if (this.#deps.applied.active.some(({ id }) => id === control.id))
        this.#audit.add('undone', this.#entryOf(this.#set.find(control.id) ?? control), at)
    }
    this.#refresh()
  }

  /** Applies a change that another process began. `begunAt`: the time in the audit log. */
  #apply(control: StoredControl, begunAt: number): void {
    const at = this.#wall()
    if (!isActive(control, at)) return
    this.#audit.add('begun', this.#entryOf(control), begunAt)
    this.#refresh()
    const why = this.#deps.applied.failureOf(control)
    if (why !== undefined) this.#audit.add('failed', this.#entryOf(control), at, why)
  }

  /** Applies the active changes to all observed limiters, and logs changes that have expired. */
  #refresh(): void {
    if (!this.#set.isEmpty) this.#keepTicking()
    const { applied } = this.#deps
    const active = this.#activeChanges()
    for (const one of applied.active) if (!active.includes(one)) this.#logExpiry(one)
    applied.replace(active)
  }

  /** Logs the expiry of a change, unless it was undone or dropped. */
  #logExpiry({ id }: StoredControl): void {
    const known = this.#set.find(id)
    const at = this.#wall()
    if (known?.undoneAt === undefined && known && !isActive(known, at))
      this.#audit.add('ended', this.#entryOf(known), at)
  }

  /**
   * Resets a key or lifts its bans: in all counts if this process received the request, otherwise only in counts local to
   * this process.
   */
  async #applyOnce(control: StoredControl, isOwn: boolean): Promise<void> {
    const { change } = control
    if ((change.action !== 'reset' && change.action !== 'unban') || (!isOwn && control.at < this.#startedAt)) return
    this.#deps.lifted(change.key, change.policy)
    try {
      await this.#deps.limiters.reset(change, isOwn)
    } catch (error) {
      this.#audit.add('failed', this.#entryOf(control), this.#wall(), messageOf(error))
    }
  }

  #send(urgent: boolean): Promise<void> | undefined {
    return this.#exchange?.send(this.#set.all(), urgent)
  }
}
