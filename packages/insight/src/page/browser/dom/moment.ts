import { element } from './elements.ts'
import { dateTimeText, utcText } from './format.ts'

/** Returns a time in the local time zone, with UTC in its tooltip. */
export function timeElement(at: number, text: string = dateTimeText(at)): HTMLElement {
  return element('time', { title: utcText(at), datetime: new Date(at).toISOString() }, text)
}
