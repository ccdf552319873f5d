/** Returns the code of the error that `run` throws, or `accepted` if it does not throw. */
export function codeOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return 'accepted'
}
