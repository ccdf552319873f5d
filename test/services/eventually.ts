import { systemClock } from '@sluice/limiter-core/backend'

/** Polls until the condition holds. Rejects with `what` if it never holds. */
export async function eventually(
  ask: () => Promise<boolean>,
  { timeoutMs = 60_000, what }: { timeoutMs?: number; what: string },
): Promise<void> {
  const deadlineAt = systemClock.now() + timeoutMs
  while (!(await ask())) {
    if (systemClock.now() > deadlineAt) throw new Error(`${what} did not come about within ${timeoutMs} ms`)
    await new Promise<void>((resolve) => systemClock.after(10, resolve))
  }
}
