/** Makes `calls` decisions and returns how many were allowed. */
export function spin(opened, next, from, calls) {
  return opened.contender.awaited ? spinAwaited(opened, next, from, calls) : spinAtOnce(opened, next, from, calls)
}

function spinAtOnce({ take, allowed }, next, from, calls) {
  let passed = 0
  for (let call = from; call < from + calls; call++) if (allowed(take(next(call)))) passed++
  return passed
}

async function spinAwaited({ take, allowed }, next, from, calls) {
  let passed = 0
  for (let call = from; call < from + calls; call++) {
    try {
      if (allowed(await take(next(call)))) passed++
    } catch (denial) {
      if (denial instanceof Error) throw denial
    }
  }
  return passed
}
