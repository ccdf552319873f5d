import { expect, test } from '@jest/globals'
import { type Backend, memoryBackend } from '@sluice/limiter-core'
import { type OnExhausted, type RunBudget, runBudget } from '@sluice/quotas/budgets'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { CHUNK_TOKENS, FakeModel, MODEL, played, prices, promptOf } from './fake-model.ts'

const CHUNK = prices.costOf(MODEL, { output: CHUNK_TOKENS })

/** A backend in memory whose answers come later, in any order. Like a server, it has a time of its own. */
function lateBackend(clock: FakeClock, random: SeededRandom): Backend {
  const memory = memoryBackend({ clock })
  const later = () => new Promise<void>((resolve) => clock.after(random.whole(30), resolve))
  const late = async <T>(run: () => T): Promise<T> => {
    await later()
    const answer = run()
    await later()
    return answer
  }
  return {
    name: 'late',
    keepsHolds: true,
    open: (compiled, name) => memory.open(compiled, name),
    takeAll: (charges) => late(() => memory.takeAll(charges)),
    peekAll: (charges) => late(() => memory.peekAll(charges)),
    adjustAll: (charges, takenAt) => late(() => memory.adjustAll(charges, takenAt)),
    resetAll: (keys) => memory.resetAll(keys),
  }
}

/** Calls models and tools in random ways until the budget has ended. Never rejects. */
async function agent(budget: RunBudget, model: FakeModel, clock: FakeClock, random: SeededRandom): Promise<void> {
  const wrapped = budget.wrap(model)
  for (let call = 0; call < 12 && !budget.signal.aborted; call++) {
    const leaves = new AbortController()
    const stay =
      random.whole(4) === 0 ? clock.after(random.whole(400), () => leaves.abort(new Error('left'))) : undefined
    const options = { ...promptOf(random.whole(500)), abortSignal: leaves.signal }
    try {
      if (random.whole(3) === 0) await wrapped.doGenerate({ ...options, maxOutputTokens: 1 + random.whole(800) })
      else if (random.whole(5) === 0) await budget.call({ name: 'tool', cost: { usd: '0.0005' } }, () => random.next())
      else {
        const reader = (await wrapped.doStream(options)).stream.getReader()
        const most = random.whole(3) === 0 ? random.whole(20) : Number.POSITIVE_INFINITY
        for (let read = 0; !(await reader.read()).done; read++) {
          if (read < most) continue
          await reader.cancel()
          break
        }
      }
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      if (code !== 'SLUICE_BUDGET_EXHAUSTED' && message !== 'left') throw error
      if (code !== undefined && random.whole(2) === 0) return
    } finally {
      stay?.()
    }
  }
}

test('random runs end, stay within their bound, hold nothing, and have exact bills', async () => {
  const seen = { ended: 0, raised: 0, runs: 0 }
  await eachSeed(16, async (random, seed) => {
    const clock = new FakeClock()
    const model = new FakeModel({ clock, seed })
    let limit = 20_000 + random.whole(100_000)
    const ask: OnExhausted = ({ bound }) => {
      if (bound !== 'usd' || random.whole(3) === 0) return undefined
      limit += 10_000
      seen.raised++
      return { usd: '0.01' }
    }
    const mode = random.pick<OnExhausted>(['abort', 'abort', 'finish', ask])
    const backend = random.whole(2) === 0 ? lateBackend(clock, random) : undefined
    const budget = runBudget({
      usd: (limit / 1e6).toFixed(6),
      prices,
      clock,
      onExhausted: mode,
      maxHoldMs: random.pick(['1s', '1m'] as const),
      ...(random.whole(3) === 0 && { seconds: 1 + random.whole(20) }),
      backend,
    })
    const children = Array.from({ length: 1 + random.whole(8) }, () =>
      budget.child({ share: (5 + random.whole(6)) / 10 }),
    )
    const all = [...children, ...children.slice(0, 3).map((child) => child.child(0.6))]
    await played(clock, Promise.all(all.map((child) => agent(child, model, clock, random))))

    const { microUsd } = budget.spent
    if (typeof mode !== 'function' && mode !== 'finish') {
      expect(microUsd).toBeLessThanOrEqual(limit + all.length * CHUNK)
      // while a backend answers late, a provider sends more than a chunk
      if (!backend) expect(model.charged).toBeLessThanOrEqual(limit + all.length * CHUNK)
    }
    expect(children.reduce((sum, { spent }) => sum + spent.microUsd, 0)).toBe(microUsd)
    expect(children.reduce((sum, { spent }) => sum + spent.tokens, 0)).toBe(budget.spent.tokens)
    // the bound of a child may be raised as well
    const left = await played(clock, budget.left())
    if (typeof mode !== 'function') expect(left.microUsd).toBe(Math.max(0, limit - microUsd))
    seen.runs++
    if (budget.end) seen.ended++
    await played(clock, budget.close())
    clock.advance(60_000)
    expect(clock.pending).toBe(0)
  })
  expect(seen.ended).toBeGreaterThan(seen.runs / 3)
  // one run in four may be raised, and few seeds may have none
  if (seen.runs >= 16) expect(seen.raised).toBeGreaterThan(0)
})
