/** Windows of rate limits are mostly of these lengths. */
const USUAL_MS = [1, 5, 10, 30, 60, 300, 600, 900, 1_800, 3_600, 86_400].map((s) => s * 1_000)
/** A window that is seen to end takes at most this part longer than it does. */
const LATE = 1.1
/** The end of a window that is closer than this is not tried, and one that is later only if nothing else is. */
const [CLOSE_MS, FAR_MS] = [100, 60_000]
/** Times between two tries of an upstream that is down, in ms. */
const [DOWN_MS, MOST_DOWN_MS] = [500, 10_000]

/** Returns the usual length of a window that is a little shorter than a measured one, or else the measured length. */
export function usualMs(ms: number): number {
  return USUAL_MS.find((usual) => usual <= ms && ms < usual * LATE) ?? ms
}

/**
 * Returns the milliseconds until an upstream that refuses requests is tried again: at the next time at which a window
 * would end that began `sinceMs` ago, or was exhausted `exhaustedMs` ago. Without the latter, the upstream is down.
 */
export function nextTryMs(sinceMs: number, tries: number, exhaustedMs?: number): number {
  if (exhaustedMs === undefined) return Math.min(MOST_DOWN_MS, DOWN_MS * 2 ** Math.min(20, tries))
  const afterBegin = nextAfter(sinceMs)
  return afterBegin <= FAR_MS ? afterBegin : Math.min(afterBegin, nextAfter(exhaustedMs))
}

function nextAfter(sinceMs: number): number {
  const longest = USUAL_MS[USUAL_MS.length - 1]
  return (USUAL_MS.find((ms) => ms > sinceMs + CLOSE_MS) ?? sinceMs + longest) - sinceMs
}
