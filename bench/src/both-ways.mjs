/** Longer than a run: what was spent stays spent. */
export const windowMs = 3_600_000

/** A limit as a 200 and, spent, as a denial. `serve` is handed the limit and answers a server that does not listen. */
export function bothWays(name, role, serve, more = {}) {
  return [
    { name, role, denial: false, serve: () => serve(1e9), ...more },
    { name: `${name}, denied`, of: name, role, denial: true, serve: () => serve(1), ...more },
  ]
}
