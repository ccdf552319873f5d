import { systemClock } from '@sluice/limiter-core/backend'

/** Asks again and again until the answer holds. Rejects with `what` where it never does. */
export async function eventually(
  ask: () => Promise<boolean>,
  { timeoutMs = 20_000, what }: { timeoutMs?: number; what: string },
): Promise<void> {
  const deadlineAt = systemClock.now() + timeoutMs
  while (!(await ask())) {
    if (systemClock.now() > deadlineAt) throw new Error(`${what} did not come about within ${timeoutMs} ms`)
    await new Promise<void>((resolve) => systemClock.after(10, resolve))
  }
}
