/** Longer than a run, so that spent units stay spent. */
export const windowMs = 3_600_000

/** A limit answering 200 and, once spent, a denial. `serve` gets the limit and returns a server that is not listening. */
export function bothWays(name, role, serve, more = {}) {
  return [
    { name, role, denial: false, serve: () => serve(1e9), ...more },
    { name: `${name}, denied`, of: name, role, denial: true, serve: () => serve(1), ...more },
  ]
}
