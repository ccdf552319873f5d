import { SluiceError, shown } from '@sluice/limiter-core/backend'

/** Whether `name` can be the topic of a channel: 1 to 128 printable ASCII characters without braces. */
export function isTopic(name: unknown): name is string {
  return typeof name === 'string' && /^[ -z|~]{1,128}$/.test(name)
}

/** Throws `SLUICE_BAD_MESSAGE` if `name` cannot be the topic of a channel. `owner` is the start of the message. */
export function checkTopic(owner: string, name: unknown): void {
  if (isTopic(name)) return
  throw new SluiceError(
    'SLUICE_BAD_MESSAGE',
    `${owner}: expected 1 to 128 printable ASCII characters without braces, received ${shown(name, owner)}`,
  )
}
