/** The real one, whatever fake timers a test of the application puts in its place later. */
export const nextTick: typeof process.nextTick = process.nextTick
