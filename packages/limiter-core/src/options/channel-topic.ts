import { SluiceError } from '../errors/errors.ts'
import { shown } from '../errors/shown.ts'

/** Whether it can name a topic of a channel: 1 to 128 printable ASCII characters without braces. */
export function isTopic(name: unknown): name is string {
  return typeof name === 'string' && /^[ -z|~]{1,128}$/.test(name)
}

/** Throws `SLUICE_BAD_MESSAGE` unless `name` is a valid topic name. */
export function checkTopic(owner: string, name: unknown): void {
  if (isTopic(name)) return
  throw new SluiceError(
    'SLUICE_BAD_MESSAGE',
    `${owner}: expected 1 to 128 printable ASCII characters without braces, received ${shown(name, owner)}`,
  )
}
