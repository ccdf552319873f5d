/** The real `process.nextTick`, even if a test of the application installs fake timers later. */
export const nextTick: typeof process.nextTick = process.nextTick
