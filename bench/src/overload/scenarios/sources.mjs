/** A source of an open-loop load with one rate: `rate` are steps of requests per second. */
export function sourceOf(name, rate, rest = {}) {
  return { name, path: '/', headers: {}, rate: [[0, rate]], ...rest }
}
