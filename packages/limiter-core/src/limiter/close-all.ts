/**
 * Returns a function that calls each function once. It is made here, because it is kept for longer than the limiter whose
 * parts it closes.
 */
export function closeAll(closes: (() => void)[]): () => void {
  return () => {
    for (const close of closes.splice(0)) close()
  }
}
