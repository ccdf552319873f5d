import { systemClock } from '@sluice/limiter-core/backend'
import { eventually } from '../../services/eventually.ts'
import { KeyRecord, type Take } from './key-record.ts'
import type { TakeReport } from './member.ts'
import type { ServerSide } from './observed-backend.ts'
import type { KeyName, PolicyName, Schedule } from './schedule.ts'

/** No call may take longer. A call that does counts as hanging. */
export const PATIENCE_MS = 30_000
/** Maximum number of units taken of a key that is never full. A log counts 128 units. */
const MAX_ROOMY = 100

/** A member in this process or in its own process. */
export interface Participant {
  take(policy: PolicyName, key: string, cost: number): Promise<TakeReport>
  refund(id: number, units: number): Promise<boolean>
  reset(policy: PolicyName, key: string): Promise<boolean>
  peek(policy: PolicyName, key: string): Promise<void>
  tell(policy: PolicyName, key: string): Promise<boolean>
  serverSide(id: number): ServerSide | Promise<ServerSide>
  close(): Promise<void>
  /** Set for a member in its own process. */
  pause?(): void
  resume?(): void
  kill?(): Promise<void>
}

/** The members of a schedule, and a record of everything that they do. */
export class ScheduleFleet {
  readonly records = new Map<string, KeyRecord>()
  /** Violations found so far. */
  readonly violations: string[] = []
  readonly #schedule: Schedule
  readonly #members: Participant[]
  readonly #paused = new Set<number>()
  readonly #dead = new Set<Participant>()
  readonly #pending = new Map<Promise<unknown>, string>()

  constructor(schedule: Schedule, members: Participant[]) {
    this.#schedule = schedule
    this.#members = members
  }

  /** Whether any member runs at all. */
  runs(member: number): boolean {
    return !this.#paused.has(member)
  }

  /** For a key with a single member, takes and refunds run one after the other. */
  async alone(name: KeyName): Promise<void> {
    if (name.owner !== undefined) await this.idle(name)
  }

  take(member: number, name: KeyName, cost: number): void {
    const record = this.recordOf(name)
    const asked = record.takes.reduce((sum, take) => sum + take.cost, 0)
    if (this.#schedule.algorithm === 'sliding-log' && name.policy === 'roomy' && asked + cost > MAX_ROOMY) return
    const take = record.begin(member, cost, systemClock.now())
    this.#during(member, name, 'take', async (one) => {
      take.report = await one.take(name.policy, name.key, cost)
      take.endedAt = systemClock.now()
    })
  }

  /** Refunds a part of an admitted take. */
  refund(member: number, name: KeyName, part: number): void {
    const record = this.recordOf(name)
    const takes = record.refundable(member)
    const take = takes[Math.floor(part * takes.length)]
    if (!take?.report) return
    const { id } = take.report
    const units = Math.ceil(part * (take.cost - take.refunded))
    take.refunded += units
    const refund = { take, units, startedAt: systemClock.now(), sure: false }
    record.refunds.push(refund)
    this.#during(member, name, 'refund', async (one) => {
      refund.sure = await one.refund(id, units)
    })
  }

  peek(member: number, name: KeyName): void {
    this.#during(member, name, 'peek', (one) => one.peek(name.policy, name.key))
  }

  /** No other call uses the key meanwhile. */
  async reset(member: number, name: KeyName): Promise<void> {
    await this.idle(name)
    const reset = { member, startedAt: systemClock.now(), endedAt: Number.POSITIVE_INFINITY, sure: false }
    this.recordOf(name).resets.push(reset)
    this.#during(member, name, 'reset', async (one) => {
      reset.sure = await one.reset(name.policy, name.key)
      reset.endedAt = systemClock.now()
    })
    await this.idle(name)
  }

  /** Pauses a member. Returns a function that resumes it. */
  pause(member: number): () => Promise<void> {
    const paused = this.#members[member]
    paused.pause?.()
    this.#paused.add(member)
    return async () => {
      this.#paused.delete(member)
      paused.resume?.()
    }
  }

  /** Kills a member with its state, and starts another in its place. */
  async kill(member: number, heir: Participant): Promise<void> {
    const victim = this.#members[member]
    this.#members[member] = heir
    this.#dead.add(victim)
    await victim.kill?.()
    await this.idle()
    for (const { takes } of this.records.values()) {
      for (const take of takes) take.died ||= take.member === member
    }
  }

  /** Waits until no call is in flight, for one key or for all. Throws if a call hangs. */
  async idle(name?: KeyName): Promise<void> {
    const ofKey = name && idOf(name)
    const waits = (): string[] => [...this.#pending.values()].filter((what) => !ofKey || what.endsWith(ofKey))
    const deadlineAt = systemClock.now() + PATIENCE_MS
    while (waits().length > 0) {
      if (systemClock.now() > deadlineAt) throw new Error(`without an answer: ${waits().join(', ')}`)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  /** Every member reports every key that it used to the server. */
  async tellAll(): Promise<void> {
    const told = [...this.records.values()].flatMap(({ name }) =>
      this.#usersOf(name).map((member) =>
        eventually(() => this.#members[member].tell(name.policy, name.key), {
          what: `an answer to member ${member} about ${name.key}`,
          timeoutMs: PATIENCE_MS,
        }),
      ),
    )
    await Promise.all(told)
  }

  /** Determines the server-side result of calls that were not answered in time. */
  async learn(): Promise<void> {
    for (const { takes } of this.records.values()) await Promise.all(takes.map((take) => this.#learn(take)))
  }

  /** Closes everything. */
  async close(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.close()))
  }

  recordOf(name: KeyName): KeyRecord {
    const record = this.records.get(idOf(name)) ?? new KeyRecord(name, this.#schedule)
    this.records.set(idOf(name), record)
    return record
  }

  async #learn(take: Take): Promise<void> {
    if (!take.report || take.report.counted || take.died) return
    take.serverSide = await this.#members[take.member].serverSide(take.report.id)
  }

  #usersOf({ owner }: KeyName): readonly number[] {
    return owner === undefined ? [...this.#members.keys()] : [owner]
  }

  #during(member: number, name: KeyName, what: string, run: (member: Participant) => Promise<unknown>): void {
    const one = this.#members[member]
    const done = run(one).catch((error) => {
      if (!this.#dead.has(one)) this.violations.push(`a ${what} of ${idOf(name)} rejected: ${error}`)
    })
    this.#pending.set(done, `a ${what} of ${idOf(name)}`)
    void done.finally(() => this.#pending.delete(done))
  }
}

function idOf({ policy, key }: KeyName): string {
  return `${policy}/${key}`
}
