export type Child = Node | string | undefined
export type Attributes = Readonly<Record<string, string | undefined>>

/** Creates an element. Strings become text nodes: nothing that is displayed is ever parsed as HTML. */
export function element(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value)
  made.append(...children.filter((child) => child !== undefined))
  return made
}

/** Wraps text from clients, so that its writing direction does not affect its surroundings. */
export function untrustedText(text: string): HTMLElement {
  return element('bdi', { class: 'foreign' }, text)
}

type BarState = 'low' | 'high' | 'full'

/**
 * Returns a bar that shows a share. `state` sets its colour. Hidden from screen readers, because the numbers are next
 * to it.
 */
export function bar(share: number, state: BarState = share >= 1 ? 'full' : share >= 0.8 ? 'high' : 'low'): Element {
  const fill = Math.min(1, Math.max(0, share))
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  rect.setAttribute('width', `${(fill * 100).toFixed(1)}%`)
  rect.setAttribute('height', '100%')
  svg.setAttribute('class', `bar ${state}`)
  svg.setAttribute('aria-hidden', 'true')
  svg.append(rect)
  return svg
}

/**
 * Updates `current` to look like `next`, changing only differences, so that focus, selection and expanded parts are
 * kept. An element with `data-keep` is not changed while the attribute has the same value.
 */
export function morph(current: Element, next: Element): void {
  if (current.hasAttribute('data-keep') && current.getAttribute('data-keep') === next.getAttribute('data-keep')) return
  morphAttributes(current, next)
  const wanted = [...next.childNodes]
  for (const [index, node] of wanted.entries()) morphNode(current, current.childNodes[index], node)
  while (current.childNodes.length > wanted.length) current.lastChild?.remove()
}

function morphNode(parent: Element, current: ChildNode | undefined, next: ChildNode): void {
  if (current === undefined) parent.append(next)
  else if (current instanceof Element && next instanceof Element && isAlike(current, next)) morph(current, next)
  else if (current instanceof Text && next instanceof Text) {
    if (current.data !== next.data) current.data = next.data
  } else current.replaceWith(next)
}

function isAlike(current: Element, next: Element): boolean {
  return (
    current.tagName === next.tagName &&
    ['id', 'data-keep'].every((name) => current.getAttribute(name) === next.getAttribute(name))
  )
}

function morphAttributes(current: Element, next: Element): void {
  // expanded by the user
  const ours = current.getAttributeNames().filter((name) => name !== 'open')
  for (const name of ours) if (!next.hasAttribute(name)) current.removeAttribute(name)
  for (const { name, value } of next.attributes)
    if (current.getAttribute(name) !== value) current.setAttribute(name, value)
}
