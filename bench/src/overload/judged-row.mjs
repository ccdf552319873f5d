import { boundRow } from '../run/target.mjs'

/** Returns a row of the target table. A run whose load was sent late proves nothing, so its result is `invalid`. */
export function judgedRow(what, isValid, measured, bound) {
  const row = boundRow(what, measured, bound)
  return isValid ? row : [...row.slice(0, -1), 'invalid']
}

/** Returns the name of a contender as a table shows it. */
export function shownName(name, { isValid }) {
  return isValid ? name : `${name} (invalid: sent late)`
}
