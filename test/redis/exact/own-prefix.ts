let made = 0

/** A prefix that no other backend of this process uses, so that each starts empty on a shared server. */
export function ownPrefix(): string {
  return `test-${process.pid}-${++made}`
}
