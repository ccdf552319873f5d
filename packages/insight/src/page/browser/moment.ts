import { element } from './elements.ts'
import { dateTimeText, utcText } from './format.ts'

/** A time of this device, with UTC in its title. */
export function moment(at: number, text: string = dateTimeText(at)): HTMLElement {
  return element('time', { title: utcText(at), datetime: new Date(at).toISOString() }, text)
}
