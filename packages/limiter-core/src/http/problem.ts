/** Problem types of draft-ietf-httpapi-ratelimit-headers, section "Problem Types". */
const PROBLEMS = {
  'quota-exceeded': { title: 'Quota Exceeded', status: 429 },
  'temporary-reduced-capacity': { title: 'Temporary Reduced Capacity', status: 503 },
} as const

export type ProblemType = keyof typeof PROBLEMS

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

/** The body of a denial (RFC 9457), ASCII alone. `status`: default, the problem's own. */
export function problemBody(type: ProblemType, violated: readonly string[], status?: number): string {
  const problem = PROBLEMS[type]
  return JSON.stringify({
    type: `https://iana.org/assignments/http-problem-types#${type}`,
    title: problem.title,
    status: status ?? problem.status,
    'violated-policies': violated,
  })
}

/** The problem that fits a status: a spent quota, or for any 5xx a server that cannot take more. */
export function problemFor(status: number): ProblemType {
  return status >= 500 ? 'temporary-reduced-capacity' : 'quota-exceeded'
}
