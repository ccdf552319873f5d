/** Returns a function that calls each function once. Made here, because it outlives the limiter that it closes. */
export function closeAll(closes: (() => void)[]): () => void {
  return () => {
    for (const close of closes.splice(0)) close()
  }
}
