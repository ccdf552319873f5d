import { expect, test } from '@jest/globals'
import { type RunBudget, runBudget } from '@sluice/quotas/budgets'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { CHUNK_TOKENS, FakeModel, MODEL, played, prices, promptOf, readAll } from './fake-model.ts'

const CHUNK = prices.costOf(MODEL, { output: CHUNK_TOKENS })

/** A sub-agent that calls the model again and again until its budget has ended. */
async function agent(budget: RunBudget, model: FakeModel, calls: number): Promise<void> {
  const wrapped = budget.wrap(model)
  for (let call = 0; call < calls; call++) {
    if (call % 5 === 4) await wrapped.doGenerate({ ...promptOf(400), maxOutputTokens: 600 })
    else await readAll(wrapped, promptOf(300 + 50 * call))
  }
}

test('20 parallel sub-agents spend at most $0.50 and one chunk each', async () => {
  const used: number[] = []
  await eachSeed(2, async (_random, seed) => {
    const clock = new FakeClock()
    const model = new FakeModel({ clock, seed })
    const budget = runBudget({ usd: 0.5, prices, clock })
    const children = Array.from({ length: 20 }, () => budget.child({}))
    const ends = await played(clock, Promise.allSettled(children.map((child) => agent(child, model, 100))))

    expect(new Set(ends.map((end) => end.status === 'rejected' && end.reason.code))).toEqual(
      new Set(['SLUICE_BUDGET_EXHAUSTED']),
    )
    expect(budget.end).toMatchObject({ bound: 'usd', budget: 'run', limit: '0.500000' })
    expect(budget.signal.aborted).toBe(true)
    expect(model.charged).toBeLessThanOrEqual(500_000 + 20 * CHUNK)
    used.push(model.charged)
    expect(budget.spent.microUsd).toBeLessThanOrEqual(500_000 + 20 * CHUNK)
    // only chunks that were sent and not read when the run ended are missing from the bill
    expect(model.charged - budget.spent.microUsd).toBeLessThanOrEqual(20 * CHUNK)
    expect(children.reduce((sum, { spent }) => sum + spent.microUsd, 0)).toBe(budget.spent.microUsd)
    expect(children.reduce((sum, { spent }) => sum + spent.tokens, 0)).toBe(budget.spent.tokens)
    expect(model.calls.every(({ late }) => late === 0)).toBe(true)
    await budget.close()
    expect(clock.pending).toBe(0)
  })
  // the rest is held by calls that are not streamed, which may need it
  expect(Math.min(...used)).toBeGreaterThan(450_000)
})

/** Checks that each bill is the sum of the bills below it and of the calls of the budget itself. */
function checkBills(nodes: readonly Node[]): void {
  for (const { budget, children, own } of nodes) {
    const below = children.reduce((sum, child) => sum + child.budget.spent.microUsd, 0)
    expect({ name: budget.name, usd: budget.spent.microUsd }).toEqual({ name: budget.name, usd: below + own.usd })
    const calls = children.reduce((sum, child) => sum + child.budget.spent.calls, 0)
    expect(budget.spent.calls).toBe(calls + own.calls)
  }
}

interface Node {
  readonly budget: RunBudget
  readonly limit: number
  readonly children: Node[]
  /** What its own calls have cost, without those of its children. */
  readonly own: { usd: number; calls: number }
}

/** Grows a tree of budgets with random bounds. */
function grown(root: RunBudget, limit: number, random: SeededRandom): Node[] {
  const nodes: Node[] = [{ budget: root, limit, children: [], own: { usd: 0, calls: 0 } }]
  const size = 2 + random.whole(12)
  while (nodes.length < size) {
    const parent = random.pick(nodes)
    if (parent.budget.name.split('/').length > 4) continue
    const share = (1 + random.whole(100)) / 100
    const bounds = random.whole(3) === 0 ? { usd: (1 + random.whole(parent.limit)) / 1e6 } : { share }
    const own = 'usd' in bounds ? Math.round(bounds.usd * 1e6) : Math.max(1, Math.floor(parent.limit * share))
    const budget = parent.budget.child({ ...bounds, ...('usd' in bounds && { usd: bounds.usd.toFixed(6) }) })
    const child: Node = { budget, limit: own, children: [], own: { usd: 0, calls: 0 } }
    parent.children.push(child)
    nodes.push(child)
  }
  return nodes
}

test('in random trees of budgets, bills add up to the micro-unit, and no bound is exceeded', async () => {
  let ended = 0
  await eachSeed(30, async (random) => {
    const clock = new FakeClock()
    const limit = 1_000 + random.whole(50_000)
    const root = runBudget({ usd: (limit / 1e6).toFixed(6), calls: 60, clock })
    const nodes = grown(root, limit, random)
    const work = async (): Promise<void> => {
      for (let call = 0; call < 6; call++) {
        const { budget, own } = random.pick(nodes)
        const reserved = random.whole(2_000)
        const actual = random.whole(reserved + 1)
        const waitMs = random.whole(100)
        const fails = random.whole(5) === 0
        const leaves = new AbortController()
        const leaveMs = random.whole(6) === 0 ? random.whole(100) : Number.MAX_SAFE_INTEGER
        const stay = clock.after(leaveMs, () => leaves.abort(new Error('left')))
        const usd = (units: number) => ({ usd: (units / 1e6).toFixed(6) })
        let started = false
        let settled = reserved
        await budget
          .call(
            {
              name: 'work',
              cost: usd(reserved),
              settle: () => {
                settled = actual
                return usd(actual)
              },
              signal: leaves.signal,
            },
            async () => {
              started = true
              await new Promise<void>((resolve) => clock.after(waitMs, resolve))
              if (fails) throw new Error('the tool failed')
            },
          )
          .catch((error) => {
            if (error.code !== undefined) ended++
          })
        stay()
        if (started) {
          own.usd += settled
          own.calls++
        }
      }
    }
    await played(clock, Promise.all(Array.from({ length: 8 }, work)), 10)
    checkBills(nodes)
    for (const { budget, limit: most } of nodes) expect(budget.spent.microUsd).toBeLessThanOrEqual(most)
    // the backend has the same bill, and holds nothing
    if (!root.end) expect((await root.left()).microUsd).toBe(limit - root.spent.microUsd)
    const report = root.report()
    expect(report.spent.microUsd).toBe(root.spent.microUsd)
    await root.close()
    // work that was aborted ends later
    clock.advance(200)
    expect(clock.pending).toBe(0)
  })
  expect(ended).toBeGreaterThan(50)
})
