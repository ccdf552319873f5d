import { createHmac } from 'node:crypto'
import {
  type LoginCheck,
  type LoginOptions,
  type LoginProtection,
  type ProofChallenge,
  type ProofOptions,
  protectLogin,
} from '@sluice/http/login'
import { memoryBackend } from '@sluice/limiter-core'
import { FakeClock, type SeededRandom } from '@sluice/testkit'

/** How the client of an attempt treats a proof of work: a browser of a person solves it, most bots do not. */
type Client = 'person' | 'bot' | 'solving bot'

/** One attempt of a scenario. */
export interface SimulatedTry {
  readonly atMs: number
  readonly account: string
  readonly address: string
  readonly client: Client
  /** Whether the password is right. */
  readonly isRight: boolean
  /** Number of the device that keeps the cookie; undefined for clients that keep no cookies. */
  readonly device: number | undefined
}

/** What became of the attempts of one kind of client. */
export interface Outcomes {
  /** Attempts, without those that repeat one with an answer. */
  tries: number
  /** Attempts that reached the password hash. */
  hashed: number
  challenged: number
  denied: number
  /** Challenged attempts of devices that have logged in to the account before. */
  knownChallenged: number
  /** Denied attempts of devices that have logged in to the account before. */
  knownDenied: number
  /** Attempts with the answer to a task of the page, which people did not wait for. */
  prepared: number
  /** Attempts for which the application asked for its own check. */
  checked: number
  /** Hashes that clients needed on average for the tasks that they solved. */
  work: number
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
const SECRET = 'a secret of the simulation'

/** Options of a simulation, and whether the page of the form has a task, which browsers of people solve. */
export interface SimulationOptions extends Partial<LoginOptions> {
  readonly withTasks?: boolean
}

/** Runs the attempts of a scenario on virtual time. Returns the outcomes of people and of bots. */
export async function simulate(
  tries: readonly SimulatedTry[],
  { withTasks = false, ...options }: SimulationOptions = {},
): Promise<Readonly<Record<'people' | 'bots', Outcomes>>> {
  const clock = new FakeClock()
  const logins = protectLogin({ secret: SECRET, backend: memoryBackend({ clock }), clock, challenge: EASY, ...options })
  const outcomes = { people: noOutcomes(), bots: noOutcomes() }
  const cookies = new Map<number, string>()
  for (const one of [...tries].sort((a, b) => a.atMs - b.atMs)) {
    clock.advance(Math.max(0, one.atMs - clock.now()))
    const ofDay = one.client === 'person' ? outcomes.people : outcomes.bots
    // logins before the day only make devices known
    const task = withTasks && one.client === 'person' ? await logins.taskFor(one.address) : undefined
    await decide(logins, one, cookies, task, one.atMs < DAY_MS ? noOutcomes() : ofDay)
  }
  logins.close()
  return outcomes
}

/** Token of the check of the application, which bots cannot get. */
const TOKEN = 'token of a person'

export const check: LoginCheck = ({ token }) => token === TOKEN

/** Tasks of the simulation are easy; `work` counts the hashes of the default difficulty. */
export const EASY: ProofOptions = { bits: 1, maxBits: 5 }
const DEFAULT_BITS = 15

async function decide(
  logins: LoginProtection,
  { account, address, client, isRight, device }: SimulatedTry,
  cookies: Map<number, string>,
  task: ProofChallenge | undefined,
  outcomes: Outcomes,
): Promise<void> {
  const cookie = device === undefined ? undefined : cookies.get(device)
  outcomes.tries++
  // the device cookie is for the form, too: a known device is sent no task
  const proof = task === undefined || cookie !== undefined ? undefined : solve(task)
  if (proof !== undefined) outcomes.prepared++
  let attempt = await logins.attempt({ account, address, device: cookie, proof })
  if (attempt.outcome === 'challenge' && attempt.challenge) {
    outcomes.challenged++
    if (cookie !== undefined) outcomes.knownChallenged++
    if (client === 'bot') return
    outcomes.work += 2 ** (attempt.challenge.bits + DEFAULT_BITS)
    attempt = await logins.attempt({ account, address, device: cookie, proof: solve(attempt.challenge) })
  }
  if (attempt.outcome === 'challenge' && !attempt.challenge) {
    outcomes.checked++
    if (client !== 'person') return
    const next = await logins.taskFor(address)
    attempt = await logins.attempt({ account, address, device: cookie, proof: next && solve(next), token: TOKEN })
  }
  if (attempt.outcome !== 'allow') {
    outcomes.denied++
    if (cookie !== undefined) outcomes.knownDenied++
    return
  }
  outcomes.hashed++
  if (!isRight) return
  const next = await attempt.succeeded()
  if (device !== undefined && next !== undefined) cookies.set(device, next)
}

/** Solves a task as a client does. */
export function solve({ text, bits }: ProofChallenge): string {
  for (let tried = 0; ; tried++) {
    const nonce = tried.toString(36)
    const hash = createHmac('sha256', text).update(nonce).digest()
    if (Math.clz32(hash.readUInt32BE()) >= bits) return `${text}.${nonce}`
  }
}

function noOutcomes(): Outcomes {
  return {
    tries: 0,
    prepared: 0,
    checked: 0,
    hashed: 0,
    challenged: 0,
    denied: 0,
    knownChallenged: 0,
    knownDenied: 0,
    work: 0,
  }
}

export interface PeopleOptions {
  readonly people: number
  /** Part of the people whose devices have logged in before the day begins. */
  readonly known: number
  /** Part of the others that have logged in before at the same address, with another browser. Default: 0. */
  readonly familiar?: number
}

/**
 * Returns the logins of a day: most of them during the day, 3 % of people mistype their password once to four times.
 * One in forty is in one office, and one in ten in one mobile network with four addresses.
 */
export function normalDay(random: SeededRandom, { people, known, familiar = 0 }: PeopleOptions): SimulatedTry[] {
  const tries: SimulatedTry[] = []
  for (let person = 0; person < people; person++) {
    const own = {
      account: `person-${person}`,
      address: addressOf(random, person),
      client: 'person',
      device: person,
    } as const
    if (random.next() < known) tries.push({ ...own, atMs: 0, isRight: true })
    else if (random.next() < familiar) tries.push({ ...own, device: undefined, atMs: 0, isRight: true })
    // two draws make the hours around noon the busiest
    const start = DAY_MS + ((random.next() + random.next()) / 2) * DAY_MS
    const wrong = random.next() < 0.03 ? 1 + random.whole(4) : 0
    for (let time = 0; time <= wrong; time++) {
      tries.push({ ...own, atMs: start + time * 10_000, isRight: time === wrong })
    }
  }
  return tries
}

function addressOf(random: SeededRandom, person: number): string {
  const draw = random.next()
  if (draw < 1 / 40) return '198.51.100.1'
  if (draw < 1 / 40 + 1 / 10) return `198.51.100.${10 + random.whole(4)}`
  return hostOf(10, person)
}

/** Returns one of 2^24 addresses of a network of class A. */
export function hostOf(network: number, host: number): string {
  return `${network}.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`
}

export interface AttackOptions {
  readonly count: number
  readonly fromMs: number
  readonly durationMs: number
  readonly client?: Client
  account(index: number): string
  address(index: number): string
}

/** Returns the guesses of an attack, all of them wrong, spread evenly over its duration. */
export function attack({ count, fromMs, durationMs, client = 'bot', account, address }: AttackOptions): SimulatedTry[] {
  return Array.from({ length: count }, (_, index) => ({
    atMs: fromMs + (index / count) * durationMs,
    account: account(index),
    address: address(index),
    client,
    isRight: false,
    device: undefined,
  }))
}
