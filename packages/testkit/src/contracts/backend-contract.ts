import {
  type AlgorithmName,
  algorithms,
  type Backend,
  type Clock,
  type MaybePromise,
} from '@sluice/limiter-core/backend'
import { FakeClock } from '../fake-clock.ts'
import { eachSeed, type SeededRandom } from '../seeded-random.ts'
import type { TestRunner } from '../suite-runner.ts'
import { availableClaims } from './available-claims.ts'
import { type BackendBench, backendClaims, policyBeside, START_MS } from './backend-claims.ts'
import { equalsReference } from './backend-history.ts'
import { answeredCalls } from './holds/answered-calls.ts'
import { holdsLikePlainCells, holdsWithTurns } from './holds/held-cells.ts'
import { holdClaims, keptHoldClaims } from './holds/hold-claims.ts'
import { peekClaims } from './peek-claims.ts'
import { planClaims } from './plan-claims.ts'
import { bookedLikePlainCells } from './turns/booked-cells.ts'
import { turnClaims } from './turns/turn-claims.ts'

/**
 * Creates an empty backend that reads the time only from `clock`, for backends with server time by their test option.
 * The contract moves the clock and never waits.
 */
export type MakeBackend = (clock: Clock) => MaybePromise<Backend>

/** Deliberate deviations of a backend from the contract. */
export interface BackendContractOptions {
  /** Whether its windows are shared by keys, so that the reference models do not apply and it has its own model. */
  readonly ownModels?: boolean | undefined
  /** Algorithms that it supports. Default: all. */
  readonly algorithms?: readonly AlgorithmName[] | undefined
  /** All its policies have one window. */
  readonly oneWindow?: boolean | undefined
  /** Whether it keeps holds of units, see `Backend.keepsHolds`. Default: false. */
  readonly keepsHolds?: boolean | undefined
  /** Whether it books turns, see `Backend.booksTurns`. Default: false. */
  readonly booksTurns?: boolean | undefined
  /**
   * Whether calls are answered while the clock stands still, by a server that may need longer than a turn of the event
   * loop. The contract then waits for them before it moves the clock. Default: false.
   */
  readonly answersWithoutClock?: boolean | undefined
  /**
   * Number of random histories that are compared with the models, for each algorithm. Default: 12. Fewer are enough for
   * another client or driver of a backend that has passed all of them.
   */
  readonly histories?: number | undefined
  /** Claims that it does not keep, by their names, and why. */
  readonly except?: Readonly<Record<string, string>> | undefined
}

const HISTORIES = 12
const allAlgorithms = Object.keys(algorithms) as AlgorithmName[]
const claims = { ...backendClaims, ...availableClaims, ...peekClaims, ...planClaims, ...holdClaims }

/**
 * The contract of every backend, synchronous or not. Runs with the test functions of your test runner, against
 * reference models that are independent of any backend.
 */
export function backendContract(
  { describe, test }: TestRunner,
  makeBackend: MakeBackend,
  {
    ownModels = false,
    algorithms: kept = allAlgorithms,
    oneWindow = false,
    keepsHolds = false,
    booksTurns = false,
    answersWithoutClock = false,
    histories = HISTORIES,
    except = {},
  }: BackendContractOptions = {},
): void {
  for (const name of Object.keys(except)) {
    if (!Object.hasOwn(claims, name)) throw new RangeError(`except: there is no claim '${name}'`)
  }
  const onBench = async (run: (bench: BackendBench) => Promise<void>): Promise<void> => {
    const clock = new FakeClock({ nowMs: START_MS })
    const made = await makeBackend(clock)
    const { backend, answered } = answersWithoutClock ? answeredCalls(made) : { backend: made }
    try {
      await run({ backend, clock, hour: policyBeside(oneWindow), answered })
    } finally {
      await backend.close?.()
    }
  }

  const all = { ...claims, ...(keepsHolds && keptHoldClaims), ...(booksTurns && turnClaims) }
  const claimed = Object.entries(all).filter(([name]) => !Object.hasOwn(except, name))
  const onBenches =
    (name: AlgorithmName, run: typeof bookedLikePlainCells) =>
    (random: SeededRandom): Promise<void> =>
      onBench((bench) => run(name, bench, random))

  const holding = (keepsHolds ? kept : []).map((name) => ['holds units', name, holdsLikePlainCells] as const)
  const booking = (booksTurns ? kept : []).map((name) => ['books turns', name, bookedLikePlainCells] as const)
  const both = (keepsHolds && booksTurns ? kept : []).map(
    (name) => ['holds units and books turns', name, holdsWithTurns] as const,
  )
  const compared = [...holding, ...booking, ...both]

  describe('fulfils the backend contract', () => {
    for (const name of ownModels ? [] : kept) {
      test(`decides like the reference models: ${name}, several policies and keys, with advisory policies`, () =>
        eachSeed(histories, (random) => onBench(({ backend, clock }) => equalsReference(name, backend, clock, random))))
    }
    for (const [title, name, run] of compared) {
      test(`${title} like plain cells: ${name}`, () => eachSeed(histories, onBenches(name, run)))
    }
    for (const [name, run] of claimed) test(name, () => onBench(run))
  })
}
