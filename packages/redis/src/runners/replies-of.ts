/** Resolves with the reply or the error of each command. */
export async function repliesOf(sent: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const settled = await Promise.allSettled(sent)
  return settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason))
}
