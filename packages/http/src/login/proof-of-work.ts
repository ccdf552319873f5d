import {
  type Backend,
  type Clock,
  clockOf,
  compileFailover,
  type Duration,
  type FailoverOptions,
  headerText,
  integerFrom,
  joinedKey,
  type Observer,
  Observers,
  openPolicies,
  optionsOf,
  PolicyLimiter,
  parseTimerMs,
} from '@sluice/limiter-core/http'
import { Signer } from './signed-text.ts'
import { CLOCK_SKEW_MS, type ProofChallenge, Tasks } from './tasks.ts'

/** How hard tasks are, and how long they are valid. */
export interface ProofOptions {
  /** Zero bits without much pressure, from 1 to 24. Default: 16, about 65,000 hashes of the client. */
  readonly bits?: number | undefined
  /** Zero bits under the greatest pressure, from `bits` to 24. Default: `bits` and 4 more, 16 times the work. */
  readonly maxBits?: number | undefined
  /** Time to solve a task, up to 24 days. Default: 10 minutes. */
  readonly ttl?: Duration | undefined
}

/** Options of `proofOfWork`. */
export interface ProofOfWorkOptions extends ProofOptions, FailoverOptions {
  /** Signs the tasks, as for `protectLogin`. */
  readonly secret: string | readonly string[]
  /** Name of the route or form, for example `search`: answers for one name are wrong for another. Default: `form`. */
  readonly name?: string | undefined
  /** Stores which answers were used. Default: the memory of this process. */
  readonly backend?: Backend | undefined
  /** Namespace of the counts on the backend, as for `createLimiter`. */
  readonly scope?: string | undefined
  readonly clock?: Clock | undefined
  readonly observers?: readonly Observer[] | undefined
}

/** Tasks that make each request of a route expensive for the client. */
export interface ProofOfWork {
  /**
   * Returns a task whose answer is accepted for `key`, for example the address of the client. `pressure`, from 0 to 1,
   * makes it harder, from `bits` to `maxBits`; less and more count as 0 and 1. Default: 0. Pass the task to `proofPage`
   * or `proofField`.
   */
  challenge(key: string | undefined, pressure?: number): ProofChallenge
  /**
   * Returns whether an answer solves a task for `key` that has not expired. Each answer is accepted once. Anything but a
   * valid answer is false.
   */
  verify(answer: unknown, key: string | undefined): Promise<boolean>
  /** Releases the name. A backend passed as an option stays open. */
  close(): void
}

/** Validated options with defaults. */
export interface ProofTerms {
  readonly bits: number
  readonly maxBits: number
  readonly ttlMs: number
}

export const DIFFICULTY = ['bits', 'maxBits', 'ttl'] as const
const OTHERS = ['secret', 'name', 'backend', 'scope', 'clock', 'observers', 'onBackendError', 'deadlineMs'] as const
/** More would take minutes on a telephone. */
const MOST_BITS = 24

/**
 * Makes requests expensive for clients: each one needs the answer to a task, which takes thousands of hashes to find
 * and two to verify. Tasks are signed and need no memory; used answers are remembered until they expire. Throws
 * `SLUICE_BAD_OPTION`, `SLUICE_BAD_NAME` and `SLUICE_BAD_DURATION`.
 */
export function proofOfWork(options: ProofOfWorkOptions): ProofOfWork {
  const known = [...DIFFICULTY, ...OTHERS]
  const { secret, name = 'form', ...others } = optionsOf('proofOfWork', options, known)
  headerText(name, 'proofOfWork: name')
  return new OneUseTasks(new Signer(secret, 'proofOfWork: secret'), name, proofTerms('proofOfWork', others), others)
}

/** Validates the difficulty. `owner` is the start of messages. Throws `SLUICE_BAD_OPTION` and `SLUICE_BAD_DURATION`. */
export function proofTerms(owner: string, given: ProofOptions): ProofTerms {
  const { ttl = '10m' } = given
  const bits = integerFrom(`${owner}: bits`, given.bits === undefined ? 16 : given.bits, 1, MOST_BITS)
  const { maxBits = Math.min(MOST_BITS, bits + 4) } = given
  integerFrom(`${owner}: maxBits`, maxBits, bits, MOST_BITS)
  return { bits, maxBits, ttlMs: parseTimerMs(ttl, `${owner}: ttl`) }
}

type StoreOptions = Pick<ProofOfWorkOptions, 'backend' | 'scope' | 'clock' | 'observers' | keyof FailoverOptions>

/** Tasks whose answers are counted, so that each is accepted once. */
export class OneUseTasks implements ProofOfWork {
  readonly #name: string
  readonly #terms: ProofTerms
  readonly #tasks: Tasks
  readonly #used: PolicyLimiter

  constructor(signer: Signer, name: string, terms: ProofTerms, options: StoreOptions) {
    const { backend, scope, clock } = options
    const policy = { name: `${name}-proof`, limit: 1, window: terms.ttlMs + 2 * CLOCK_SKEW_MS, unit: 'uses' }
    const observers = new Observers(options.observers, () => [policy.name])
    const failover = compileFailover(options)
    this.#name = name
    this.#terms = terms
    this.#tasks = new Tasks(signer, clockOf(clock), terms.ttlMs)
    const [policies] = openPolicies([[policy]], { backend, clock, scope })
    this.#used = new PolicyLimiter(policies, clock, observers, failover)
  }

  challenge(key: string | undefined, pressure = 0): ProofChallenge {
    const { bits, maxBits } = this.#terms
    // NaN counts as 0
    const part = pressure > 0 ? Math.min(1, pressure) : 0
    const harder = Math.min(maxBits - bits, Math.floor(part * (maxBits - bits + 1)))
    return this.#tasks.issue(bits + harder, this.#bind(key))
  }

  async verify(answer: unknown, key: string | undefined): Promise<boolean> {
    const id = this.#tasks.idOf(answer, this.#bind(key))
    return id !== undefined && (await this.#used.take(id)).allowed
  }

  close(): void {
    this.#used.close()
  }

  #bind(key: string | undefined): string {
    return key === undefined ? joinedKey(this.#name) : joinedKey(this.#name, key)
  }
}
