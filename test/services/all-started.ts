interface Stoppable {
  stop(): Promise<void>
}

/** Starts all of them. If one does not start, the others are stopped, and its error is thrown. */
export async function allStarted<T extends Stoppable>(starting: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(starting)
  const failed = results.find((result) => result.status === 'rejected')
  const running = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (failed === undefined) return running
  await stopAll(running)
  throw failed.reason
}

/** Returns the result of `use`. If it fails, the resource is stopped. */
export async function orStopped<T extends Stoppable>(started: T, use: (started: T) => Promise<void>): Promise<T> {
  try {
    await use(started)
    return started
  } catch (error) {
    await started.stop()
    throw error
  }
}

export async function stopAll(running: readonly Stoppable[]): Promise<void> {
  await Promise.all(running.map((one) => one.stop()))
}
