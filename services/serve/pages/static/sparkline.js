const SVG = 'http://www.w3.org/2000/svg'
const WIDTH = 62
const HEIGHT = 26

export function sparkline() {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`)
  svg.setAttribute('aria-hidden', 'true')
  svg.append(document.createElementNS(SVG, 'path'))
  return svg
}

/** @param {number[]} values */
export function drawSparkline(svg, values) {
  const path = svg.firstElementChild
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const [first = 0, last = 0] = [values[0], values.at(-1)]
  path.setAttribute('class', last > first ? 'up' : last < first ? 'down' : '')
  const x = (index) => ((index / Math.max(1, values.length - 1)) * WIDTH).toFixed(1)
  const y = (value) => (high === low ? HEIGHT / 2 : 2 + (1 - (value - low) / (high - low)) * (HEIGHT - 4)).toFixed(1)
  path.setAttribute('d', values.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(value)}`).join(''))
}
