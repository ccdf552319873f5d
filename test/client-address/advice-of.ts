import type { ProxyTrust } from '@sluice/http'

/** Reads a value of the option `trust` as a warning shows it. */
export function adviceOf(text: string): readonly ProxyTrust[] {
  const json = text.replaceAll("'", '"').replace(/(?<=[{,] )(preset|ranges|header|hops):/g, '"$1":')
  return [JSON.parse(json)].flat()
}
