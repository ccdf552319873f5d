import { type RunBudgetOptions, runBudget } from '@sluice/quotas/budgets'
import { FakeClock } from '@sluice/testkit'
import { type HolderBackend, openBackend } from '../holder-backend.ts'

/** What a run has spent and left, in millionths of a dollar. */
export interface RunState {
  readonly spent: number
  readonly left: number | undefined
}

/** Spends a cent in 20 sub-agents, whose next calls hold the rest of $0.50 and never end. */
export async function holdAll(options: HolderBackend, run: RunBudgetOptions, now: number): Promise<RunState> {
  const clock = new FakeClock({ nowMs: now })
  const { backend } = await openBackend(options, clock)
  const budget = runBudget({ ...run, backend, clock, deadlineMs: '20s' })
  const children = Array.from({ length: 20 }, () => budget.child(0.2))
  await Promise.all(children.map((child) => child.call({ name: 'tool', cost: { usd: '0.0005' } }, () => 1)))
  await new Promise<void>((resolve) => {
    let running = 0
    for (const child of children) {
      const endless = child.call({ name: 'tool', cost: { usd: '0.0245' } }, () => {
        if (++running === children.length) resolve()
        return new Promise(() => {})
      })
      endless.catch(() => {})
    }
  })
  return { spent: 10_000, left: (await budget.left()).microUsd }
}
