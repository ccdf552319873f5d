/** The part of a list header that has not been read yet. */
export interface ForwardedList {
  text: string | undefined
}

/** Removes and returns the last value of a list; undefined if nothing is left. Reads only this value. */
export function lastOf(list: ForwardedList): string | undefined {
  const { text } = list
  if (text === undefined) return undefined
  const comma = text.lastIndexOf(',')
  list.text = comma < 0 ? undefined : text.slice(0, comma)
  return text.slice(comma + 1)
}
