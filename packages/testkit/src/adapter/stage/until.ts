import { systemClock } from '@sluice/limiter-core/backend'

/** Waits until `condition` is true. Rejects with `what` if it never is. */
export async function until(
  condition: () => boolean,
  { timeoutMs = 15_000, what = 'the awaited condition' }: { timeoutMs?: number; what?: string } = {},
): Promise<void> {
  const deadlineAt = systemClock.now() + timeoutMs
  while (!condition()) {
    if (systemClock.now() > deadlineAt) throw new Error(`${what} did not come about within ${timeoutMs} ms`)
    await new Promise<void>((resolve) => systemClock.after(1, resolve))
  }
}
