/** The code of the error that `run` throws; `accepted` where it throws none. */
export function codeOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return (error as { code?: unknown }).code
  }
  return 'accepted'
}
