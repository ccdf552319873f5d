// RFC 9651: the parts of a list of items with parameters
const MEMBER = /(?:"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"|[A-Za-z*][\w!#$%&'*+.^`|~:/-]*)/y
const PARAMETER =
  /; *([a-z*][a-z\d_.*-]*)(?:=(-?\d{1,15}(?:\.\d{1,3})?|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"|:[A-Za-z\d+/=]*:|\?[01]|[A-Za-z*][\w!#$%&'*+.^`|~:/-]*))?/y
const COMMA = /[ \t]*,[ \t]*/y
const WHOLE = /^\d{1,15}$/

/**
 * Returns the milliseconds after which a client may send again according to a `RateLimit` field
 * (draft-ietf-httpapi-ratelimit-headers): the longest `t` of the policies with `r=0`. Returns 0 if no policy is
 * exhausted, and if the field is malformed.
 */
export function exhaustedMs(field: string): number {
  const text = field.trim()
  let at = 0
  let longestS = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match) at = pattern.lastIndex
    return match
  }
  do {
    if (!next(MEMBER)) return 0
    const parameters = new Map<string, string>()
    for (let match = next(PARAMETER); match; match = next(PARAMETER)) parameters.set(match[1], match[2] ?? '')
    const t = parameters.get('t') ?? ''
    if (WHOLE.test(t) && /^0+$/.test(parameters.get('r') ?? '')) longestS = Math.max(longestS, Number(t))
  } while (next(COMMA))
  return at === text.length ? longestS * 1_000 : 0
}
