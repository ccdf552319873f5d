import { systemClock } from '@sluice/limiter-core/backend'
import { ChargedReader } from './charged.ts'
import { forgotten, missesOf, windowMisses, wrongDenials } from './checks.ts'
import { PATIENCE_MS, type Participant, ScheduleFleet } from './fleet.ts'
import { type MemberOptions, rest } from './member.ts'
import type { Action, Schedule } from './schedule.ts'
import { PATH_FAULTS, type Servers } from './servers.ts'

/** Creates a member of a schedule. */
export type StartMember = (options: MemberOptions) => Participant

let scopes = 0

/** Runs a schedule on its servers. Throws if a check fails. */
export async function runSchedule(schedule: Schedule, servers: Servers, start: StartMember): Promise<string> {
  const run = new ScheduleRun(schedule, servers, start)
  try {
    await run.begin()
    for (const action of schedule.actions) await run.act(action)
    return await run.end()
  } finally {
    await run.close()
  }
}

class ScheduleRun {
  readonly #servers: Servers
  readonly #schedule: Schedule
  readonly #fleet: ScheduleFleet
  readonly #reader: ChargedReader
  readonly #start: (member: number) => Participant
  #ends: (() => Promise<void>)[] = []

  constructor(schedule: Schedule, servers: Servers, start: StartMember) {
    const scope = `schedule${scopes++}`
    this.#servers = servers
    this.#schedule = schedule
    const { actions: _, ...shape } = schedule
    this.#start = (member) => start({ schedule: shape, scope, address: servers.addressOf(member) })
    const made = Array.from({ length: schedule.members }, (_, member) => this.#start(member))
    this.#fleet = new ScheduleFleet(schedule, made)
    this.#reader = new ChargedReader(servers.admin, scope, schedule)
  }

  /** Opens a window for every key and a connection for every member. */
  async begin(): Promise<void> {
    for (const action of this.#schedule.actions) {
      if ('key' in action) this.#fleet.recordOf(action.key)
    }
    await this.#fleet.tellAll()
    for (const { name } of this.#fleet.records.values()) this.#fleet.take(name.owner ?? 0, name, 1)
    await this.#fleet.idle()
    // takes from a lease are charged when they are reported
    await this.#fleet.tellAll()
    // the first take of a window stays in the window
    for (const { takes } of this.#fleet.records.values()) for (const take of takes) take.refunded = take.cost
  }

  async act(action: Action): Promise<void> {
    const fleet = this.#fleet
    if ('key' in action && !fleet.runs(action.member)) return
    if ('key' in action) await fleet.alone(action.key)
    if (action.does === 'take') fleet.take(action.member, action.key, action.cost)
    else if (action.does === 'refund') fleet.refund(action.member, action.key, action.part)
    else if (action.does === 'peek') fleet.peek(action.member, action.key)
    else if (action.does === 'reset') await fleet.reset(action.member, action.key)
    else if (action.does === 'rest') await rest(action.ms)
    else if (action.does === 'fault') await this.#fault(action)
    else await this.#heal(action.does === 'recover')
  }

  /** Returns the measurements. */
  async end(): Promise<string> {
    await this.#heal(true)
    const { violations, records } = this.#fleet
    const keys = [...records.values()]
    const misses = await this.#agreed()
    violations.push(...misses)
    // reported usage is not reported again
    if (misses.length === 0) violations.push(...(await this.#told()))
    if (this.#schedule.counting === 'leased') violations.push(...(await this.#returned()))
    for (const record of keys) {
      const limit = this.#reader.limitOf(record.name.policy)
      violations.push(...windowMisses(record, this.#schedule, limit), ...wrongDenials(record, this.#schedule, limit))
    }
    if (violations.length > 0) throw new Error([this.#title(), ...violations].join('\n'))
    const takes = keys.flatMap((record) => record.takes)
    const ruled = takes.filter(({ report }) => report && !report.counted).length
    return `${this.#title()}: ${takes.length} takes, ${ruled} answered by the rule`
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end()
    this.#reader.close()
    await this.#fleet.close()
  }

  async #fault({ fault, member, strength }: Extract<Action, { does: 'fault' }>): Promise<void> {
    const begin = this.#servers.faults[fault]
    // a paused server processes no commands
    if (!PATH_FAULTS.includes(fault)) await this.#heal(false)
    if (begin) this.#ends.push(await begin(member, strength))
    else if (fault === 'process stopped') this.#ends.push(this.#fleet.pause(member))
    else await this.#kill(member)
  }

  async #kill(member: number): Promise<void> {
    await this.#fleet.kill(member, this.#start(member))
    if (this.#schedule.counting === 'exact') return
    // its leased units
    for (const record of this.#fleet.records.values()) {
      const [, lent] = await this.#reader.chargedAndLent(record.name)
      record.lostLent += lent
    }
  }

  async #heal(recovers: boolean): Promise<void> {
    for (const end of this.#ends.splice(0)) await end()
    if (!recovers) return
    await this.#fleet.idle()
    await this.#fleet.tellAll()
  }

  /** Checks the charged units against the record, at once or after all pending work was done. */
  async #agreed(): Promise<readonly string[]> {
    const deadlineAt = systemClock.now() + PATIENCE_MS / 2
    for (;;) {
      const misses = await this.#told()
      if (misses.length === 0 || systemClock.now() > deadlineAt) return misses
      await rest(50)
    }
  }

  async #told(): Promise<readonly string[]> {
    await this.#fleet.tellAll()
    await this.#fleet.learn()
    return this.#misses(true)
  }

  /** Checks that no lease is left. */
  async #returned(): Promise<readonly string[]> {
    await this.#fleet.close()
    return this.#misses(false)
  }

  async #misses(mayLease: boolean): Promise<readonly string[]> {
    const misses: string[] = []
    for (const record of this.#fleet.records.values()) {
      if (record.name.policy === 'brief') continue
      const leases = this.#schedule.counting === 'leased'
      const [charged, lent] = leases
        ? await this.#reader.chargedAndLent(record.name)
        : [await this.#reader.charged(record.name), 0]
      const limit = this.#reader.limitOf(record.name.policy)
      const onLease = mayLease ? lent : 0
      misses.push(...missesOf(record, this.#schedule, { limit, charged, lent: onLease }))
      if (this.#schedule.loses && !leases) misses.push(...forgotten(record, limit, charged))
      if (!mayLease && lent > 0) misses.push(`${record.name.key}: ${lent} on lease of nobody`)
    }
    return misses
  }

  #title(): string {
    const { counting, algorithm, slices, rule, deadlineMs } = this.#schedule
    return `${counting}, ${algorithm}${slices > 1 ? ` of ${slices} slices` : ''}, rule ${rule}, deadline ${deadlineMs}`
  }
}
