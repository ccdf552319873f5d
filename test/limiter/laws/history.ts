import type { Decision } from '@sluice/limiter-core'
import { FakeClock, type SeededRandom } from '@sluice/testkit'
import { Operator } from '../controls/controlled.ts'
import { Account, type Seen, type Spent } from './account.ts'
import { type Check, checkDecision, checkNumbers } from './decision-laws.ts'
import { type DrawnPolicy, type DrawnSetup, KEYS, PLAIN } from './drawn-setup.ts'
import { type Ask, type AskedTake, type Entrance, entranceOf } from './entrances.ts'
import type { Feature, Rule } from './features.ts'
import { checkGuarantee, checkModel, checkOtherPlan, checkVerdict } from './model-laws.ts'
import type { OpenHold, Taken } from './open-units.ts'
import { Storages } from './storages.ts'

const START_MS = 1_000_000
/** Turns of the event loop in which calls that nothing waits for end. */
const MICROTASKS = 30

/** One random history of a limiter, and what is known of it. */
export class History {
  readonly random: SeededRandom
  readonly setup: DrawnSetup
  readonly clock = new FakeClock({ nowMs: START_MS })
  readonly storages: Storages
  readonly operator = new Operator()
  entrance: Entrance
  readonly features = new Set<Feature>()
  readonly taken: Taken[] = []
  readonly holds: OpenHold[] = []
  readonly log: string[] = []
  /** Whether operators change policies, or block keys. */
  isControlled = false
  /** Whether operators change limits. Units of a changed limit and of the limit of another plan weigh differently. */
  hasChangedLimits = false
  rule: Rule
  /** The policies by plan. */
  plans: DrawnSetup['plans']
  readonly #accounts = new Map<string, Account>()
  /** The numbers of keys since the last change. */
  readonly #views = new Map<string, ReadonlyMap<string, Seen>>()
  readonly #choices = new Map<string, number>()

  constructor(random: SeededRandom, setup: DrawnSetup) {
    this.random = random
    this.setup = setup
    this.plans = setup.plans
    this.storages = new Storages(this.clock, random.whole(200_000))
    this.rule = setup.rule
    this.entrance = this.#open()
    this.declare(setup.plans)
    for (const drawn of setup.plans[0]) {
      const { name } = drawn.input
      for (const key of KEYS) this.#accounts.set(`${name} ${key}`, new Account(key, drawn, this.hasModel(drawn)))
    }
  }

  #open(): Entrance {
    const { clock, storages, operator, plans, rule } = this
    return entranceOf({ ...this.setup, plans, rule }, { clock, storages, observers: [operator] })
  }

  reload(next: readonly DrawnPolicy[]): void {
    this.entrance.reload(next)
    this.touch()
    this.#choices.clear()
  }

  /** Closes the limiter, and creates another one with another failure rule. */
  restart(rule: Rule): void {
    this.entrance.close()
    this.rule = rule
    this.entrance = this.#open()
    this.#choices.clear()
  }

  declare(plans: DrawnSetup['plans']): void {
    this.plans = plans
    for (const { features } of plans.flat()) for (const one of features) this.features.add(one)
  }

  /** Throws with the history if a law is broken. */
  readonly check: Check = (law, isKept, ...details) => {
    if (isKept) return
    const policies = this.plans.map((plan) => plan.map(({ input, storage }) => ({ ...input, storage })))
    const shown = details.map((one) => JSON.stringify(one)).join(', ')
    const {
      rule,
      setup: { entrance },
    } = this
    // the inputs of functions
    for (const drawn of this.plans.flat()) if (drawn.limits) this.log.push(`limits ${drawn.input.name} ${drawn.limits}`)
    throw new Error([`${law}: ${shown}`, `${entrance} ${rule} ${JSON.stringify(policies)}`, ...this.log].join('\n'))
  }

  /** Lets calls that nothing waits for end. */
  async settled(): Promise<void> {
    this.touch()
    for (let turn = 0; turn < MICROTASKS; turn++) await undefined
    await new Promise<void>((resolve) => setImmediate(resolve))
    for (let turn = 0; turn < MICROTASKS; turn++) await undefined
  }

  policyOf(name: string, plan = 0): DrawnPolicy {
    return this.plans[plan].find(({ input }) => input.name === name) as DrawnPolicy
  }

  /** Whether each request changes what the next one sees: not if processes lease units, or after disturbances. */
  isExact({ storage, input }: DrawnPolicy, key?: string): boolean {
    if (key !== undefined && this.account(input.name, key).isDisturbed) return false
    return storage === 'memory' || storage === 'server'
  }

  account(name: string, key: string): Account {
    return this.#accounts.get(`${name} ${key}`) as Account
  }

  get accounts(): Iterable<Account> {
    return this.#accounts.values()
  }

  hasModel(drawn: DrawnPolicy): boolean {
    return this.isExact(drawn) && this.plans.length === 1 && !drawn.limits && !drawn.windows
  }

  nowOf({ storage }: DrawnPolicy): number {
    return this.storages.clockOf(storage).now()
  }

  /** Whether a policy counts a key. */
  counts({ input, features }: DrawnPolicy, key: string): boolean {
    return input.mode !== 'off' && !(key === PLAIN && features.includes('exempt'))
  }

  /** Returns the numbers of a key under all policies of a plan. Calls no storage if nothing has happened since. */
  async view(key: string, plan = 0): Promise<ReadonlyMap<string, Seen>> {
    const id = `${key} ${plan}`
    const seen = this.#views.get(id) ?? (await this.#read(key, plan))
    this.#views.set(id, seen)
    return seen
  }

  /** Like `view`, from the storages. */
  reread(key: string, plan = 0): Promise<ReadonlyMap<string, Seen>> {
    this.touch()
    return this.view(key, plan)
  }

  /** Something has happened. */
  touch(): void {
    this.#views.clear()
  }

  async #read(key: string, plan: number): Promise<ReadonlyMap<string, Seen>> {
    const seen = new Map<string, Seen>()
    const handle = this.operator.limiters[plan]
    const all = plan === 0 && !this.isControlled ? await this.entrance.limiter.peek(key, 0) : undefined
    const isRead = all !== undefined && all.source !== 'banned' && all.source !== 'blocked' && all.source !== 'exempt'
    for (const [index, { policy }] of handle.policies.entries()) {
      const known = isRead ? all.verdicts.find((one) => one.policy.name === policy.name) : undefined
      // of a policy that exempts or bans the key, or that operators have switched off
      const verdict = known ?? (await handle.peek(index, key, 0)).verdicts[0]
      const { remaining, resetAfterMs } = verdict
      const capacity = verdict.policy.burst ?? verdict.policy.limit
      const isBanned = !verdict.allowed
      seen.set(policy.name, { remaining, resetAfterMs, capacity, isBanned })
      checkNumbers(this.check, verdict, this.rule === 'allow')
      if (!isBanned) continue
      const account = this.account(policy.name, key)
      this.check('a key is banned only by its terms', account.mayBeBanned(this.clock.now()), policy.name, key)
    }
    return seen
  }

  /** Makes a request, and checks what it changes. */
  async take(key: string, cost: number, ask: Partial<Ask> = {}): Promise<Decision> {
    const isRequest = this.setup.entrance === 'requests' && this.random.whole(3) > 0
    const plan = isRequest ? this.random.whole(this.plans.length) : 0
    const choice = this.random.whole(2)
    const before = await this.view(key, plan)
    const other = this.plans.length - 1 - plan
    const underOther = await this.view(key, other)
    const full = { cost, plan, choice, ...ask }
    const take = isRequest ? await this.entrance.take(key, full) : await this.#takeByCode(key, cost)
    await this.settled()
    this.features.add(isRequest ? 'requests' : 'code')
    const { decision } = take
    const source = `${decision.source}${decision.counted ? '' : ' (not counted)'}`
    this.log.push(`take ${cost} of ${key} under ${plan}/${choice}: ${decision.allowed} by ${source}`)
    this.checkDecision(decision)
    const spent = this.record(key, plan, cost, decision)
    const after = await this.view(key, plan)
    this.#judge(key, plan, isRequest ? choice : -1, before, after, (name) => spent.get(name)?.units ?? 0)
    const isComparable = other !== plan && !this.hasChangedLimits
    if (isComparable) checkOtherPlan(this, key, [underOther, await this.view(key, other)], spent)
    if (decision.allowed) this.taken.push({ key, plan, cost, take, spent })
    return decision
  }

  async #takeByCode(key: string, cost: number): Promise<AskedTake> {
    const decision = await this.entrance.limiter.take(key, cost)
    return { decision, charge: (units) => this.entrance.limiter.charge(key, units, decision) }
  }

  /** Records what a decision took, and returns it by policy. */
  record(key: string, plan: number, cost: number, decision: Decision): Map<string, Spent> {
    const spent = new Map<string, Spent>()
    const allFit = decision.verdicts.every(({ allowed }) => allowed)
    for (const [index, verdict] of decision.verdicts.entries()) {
      const { name } = verdict.policy
      const drawn = this.policyOf(name, plan)
      const account = this.account(name, key)
      const isBanned = decision.source === 'banned'
      if (isBanned && drawn.input.ban?.extend) account.ban(this.clock.now())
      if (!verdict.allowed && !isBanned && decision.source !== 'blocked') account.strike(this.clock.now())
      const isCounted = decision.countedEach?.[index] ?? decision.counted
      const expected = isCounted ? account.expected(this.nowOf(drawn), cost) : undefined
      if (expected) checkVerdict(this.check, account, verdict, cost, expected)
      if (!decision.allowed || !isCounted || (verdict.shadow && !allFit)) {
        if (verdict.allowed) account.undo()
        continue
      }
      account.take(this.nowOf(drawn), cost)
      const one: Spent = { at: this.clock.now(), units: cost }
      spent.set(name, one)
      account.spent.push(one)
      if (this.plans.length === 1) checkGuarantee(this.check, account, this.clock.now())
    }
    return spent
  }

  /** Checks that the numbers of all policies are those before, less the units that `takenOf` names. */
  #judge(
    key: string,
    plan: number,
    choice: number,
    before: ReadonlyMap<string, Seen>,
    after: ReadonlyMap<string, Seen>,
    takenOf: (name: string) => number,
  ): void {
    for (const [name, seen] of after) {
      const drawn = this.policyOf(name, plan)
      const was = before.get(name) as Seen
      const isSame = this.#isSameChoice(`${name} ${key} ${plan}`, choice)
      if (!this.isExact(drawn, key) || was.isBanned || seen.isBanned) continue
      if ((drawn.limits || drawn.windows) && !isSame) continue
      const left = Math.max(0, was.remaining - takenOf(name))
      this.check('a request takes its cost, or nothing', this.isLeft(drawn, seen, left), name, key, was, seen, left)
      this.checkModel(name, key, seen)
    }
  }

  /** Whether the last request of a key has chosen the same limit. */
  #isSameChoice(id: string, choice: number): boolean {
    const isSame = choice < 0 || this.#choices.get(id) === choice
    if (choice >= 0) this.#choices.set(id, choice)
    return isSame
  }

  /** Whether so many units are left as the last request should have left. */
  isLeft({ storage }: DrawnPolicy, { remaining }: Seen, left: number): boolean {
    // with plans of different algorithms, a process remembers more than the server counted, and restores it there
    const isRestored = this.plans.length > 1 && storage === 'server'
    // a bucket of the largest limit rounds its units
    const rounding = left > 1e14 ? 1 : 0
    return isRestored ? remaining <= left : Math.abs(remaining - left) <= rounding
  }

  /** Checks that the numbers of a key are those of its model. */
  checkModel(name: string, key: string, seen: Seen): void {
    const account = this.account(name, key)
    checkModel(this.check, account, seen, this.nowOf(account.drawn))
  }

  checkDecision(decision: Decision): void {
    checkDecision(this.check, decision, this.rule === 'allow')
  }

  /** Whether the numbers of a key are the same, where they are exact. */
  isSame(key: string, before: ReadonlyMap<string, Seen>, after: ReadonlyMap<string, Seen>): boolean {
    return [...after].every(
      ([name, seen]) =>
        !this.isExact(this.policyOf(name), key) || JSON.stringify(seen) === JSON.stringify(before.get(name)),
    )
  }

  /** Removes the changes of operators. */
  release(): void {
    this.operator.release()
    this.isControlled = this.hasChangedLimits = false
    this.touch()
  }

  anyKey(): string {
    return this.random.pick(KEYS)
  }

  async close(): Promise<void> {
    this.entrance.close()
    await this.storages.close()
  }
}
