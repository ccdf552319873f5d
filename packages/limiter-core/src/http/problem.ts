/** Problem types of draft-ietf-httpapi-ratelimit-headers, section "Problem Types". */
const PROBLEMS = {
  'quota-exceeded': { title: 'Quota Exceeded', status: 429 },
  'temporary-reduced-capacity': { title: 'Temporary Reduced Capacity', status: 503 },
} as const

export type ProblemType = keyof typeof PROBLEMS

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

/** The body of a denial (RFC 9457), ASCII alone. `status`: default, the problem's own. */
export function problemBody(type: ProblemType, violated: readonly string[], status?: number): string {
  const { title, status: own } = PROBLEMS[type]
  // the names alone are of others: to have the whole written by JSON takes five times as long
  const head = `{"type":"https://iana.org/assignments/http-problem-types#${type}","title":"${title}"`
  return `${head},"status":${status ?? own},"violated-policies":${JSON.stringify(violated)}}`
}

/** The problem that fits a status: a spent quota, or for any 5xx a server that cannot take more. */
export function problemFor(status: number): ProblemType {
  return status >= 500 ? 'temporary-reduced-capacity' : 'quota-exceeded'
}
