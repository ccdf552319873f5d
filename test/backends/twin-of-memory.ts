import { deepEqual } from 'node:assert/strict'
import { memoryBackend, type Policy } from '@sluice/limiter-core'
import { type AlgorithmName, type Answer, algorithms, type Backend, type Charge } from '@sluice/limiter-core/backend'
import { contractPolicies, FakeClock, openedCounter, type SeededRandom } from '@sluice/testkit'

const STEPS = 120
const policies = (Object.keys(algorithms) as AlgorithmName[]).flatMap(contractPolicies)

/** One request, for any backend. */
type Deed = (backend: Backend) => Promise<Answer | undefined>
type Draft = Omit<Charge, 'counter'> & { readonly policy: Policy }

export interface TwinOptions {
  /** Whether each request waits for the answer of the one before it. Default: the requests of one turn share a call. */
  readonly sequential?: boolean
  readonly afterStep?: () => void
}

/**
 * Makes random requests of all kinds with several processes on shared counts, and with one backend in memory. Throws at
 * the first answer that differs. Returns the number of requests.
 *
 * `makeProcesses` returns the backends of the processes, with empty counts and by the time of the clock.
 */
export async function decideLikeMemory(
  random: SeededRandom,
  makeProcesses: (clock: FakeClock) => Promise<readonly Backend[]>,
  { sequential = false, afterStep }: TwinOptions = {},
): Promise<number> {
  let requests = 0
  const clock = new FakeClock({ nowMs: random.pick([1_000, 1.7e12]) })
  const memory = memoryBackend({ clock })
  const processes = await makeProcesses(clock)
  const few = Array.from({ length: 3 }, () => random.pick(policies))
  const taken: number[] = []
  for (let step = 0; step < STEPS; step++) {
    clock.advance(random.pick([0, 0, 1, random.whole(8_000), random.whole(120_000) + 0.5, 60_000]))
    const deeds = Array.from({ length: 1 + random.whole(4) }, () => deedOf(random, few, taken))
    const process = random.pick(processes)
    const answers = await (sequential ? inOrder(deeds, process) : Promise.all(deeds.map((deed) => deed(process))))
    for (const [index, deed] of deeds.entries()) {
      requests++
      deepEqual(plain(answers[index]), plain(await deed(memory)), `step ${step}, request ${index}`)
    }
    taken.push(clock.now())
    afterStep?.()
  }
  return requests
}

async function inOrder(deeds: readonly Deed[], backend: Backend): Promise<(Answer | undefined)[]> {
  const answers: (Answer | undefined)[] = []
  for (const deed of deeds) answers.push(await deed(backend))
  return answers
}

function chargesOf(backend: Backend, drafts: readonly Draft[]): Charge[] {
  return drafts.map(({ policy, ...rest }) => ({ ...rest, counter: openedCounter(backend, 'twin', policy) }))
}

function draftsOf(random: SeededRandom, few: readonly Policy[], cost: (policy: Policy) => number): Draft[] {
  return Array.from({ length: 1 + random.whole(3) }, () => {
    const policy = random.pick(few)
    return { policy, key: random.pick(['a', 'b', 'c']), cost: cost(policy), advisory: random.whole(4) === 0 }
  })
}

function knownBy(random: SeededRandom, { limit, windowMs }: Policy): Charge['known'] {
  return random.whole(8) > 0 ? undefined : { used: random.whole(limit + 1), resetAfterMs: 1 + random.whole(windowMs) }
}

function deedOf(random: SeededRandom, few: readonly Policy[], taken: readonly number[]): Deed {
  const capacityOf = ({ limit, burst = limit }: Policy): number => burst
  const some = (policy: Policy): number =>
    random.pick([0, 1, 1, 1 + random.whole(capacityOf(policy)), capacityOf(policy)])
  const kind = random.pick(['take', 'take', 'take', 'take', 'peek', 'adjust', 'reset'] as const)
  if (kind === 'adjust') {
    const drafts = draftsOf(
      random,
      few,
      (policy) => random.whole(capacityOf(policy) + 3) - random.pick([0, capacityOf(policy)]),
    )
    const takenAt = taken.length > 0 ? random.pick(taken) : 0
    return async (backend) => backend.adjustAll(chargesOf(backend, drafts), takenAt)
  }
  if (kind === 'reset') {
    const drafts = random.whole(3) === 0 ? draftsOf(random, few, () => 0) : []
    return async (backend) => {
      await backend.resetAll(chargesOf(backend, drafts))
      return undefined
    }
  }
  const drafts = draftsOf(random, few, some).map((draft) => ({ ...draft, known: knownBy(random, draft.policy) }))
  return async (backend) => backend[kind === 'take' ? 'takeAll' : 'peekAll'](chargesOf(backend, drafts))
}

function plain(answer: Answer | undefined): unknown {
  return answer && { takenAt: answer.takenAt, verdicts: answer.verdicts.map((verdict) => ({ ...verdict })) }
}
