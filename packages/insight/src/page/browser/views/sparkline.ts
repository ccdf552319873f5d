const HEIGHT = 20
const WIDTH = 96

/**
 * Returns an inline curve whose top is at least `most`. Hidden from screen readers, because the numbers are next to it.
 */
export function sparkline(values: readonly number[], most: number): Element {
  const top = Math.max(1, most, ...values)
  const last = Math.max(1, values.length - 1)
  const points = values.map((value, index) => {
    const across = (index / last) * WIDTH
    return `${across.toFixed(1)},${(HEIGHT - 1 - (value / top) * (HEIGHT - 2)).toFixed(1)}`
  })
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'polyline')
  line.setAttribute('points', points.join(' '))
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('class', 'sparkline')
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`)
  svg.setAttribute('aria-hidden', 'true')
  svg.append(line)
  return svg
}
