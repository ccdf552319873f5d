interface Emitter {
  on(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
}

/** Resolves when the first of these events occurs. */
export function firstOf(emitter: Emitter, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      for (const event of events) emitter.off(event, settle)
      resolve()
    }
    for (const event of events) emitter.on(event, settle)
  })
}
