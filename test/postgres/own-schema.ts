let made = 0

/** Returns the name of a schema that no other test of this file uses. */
export function ownSchema(): string {
  return `limits_${++made}`
}
