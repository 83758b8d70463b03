/** Formatted JSON: indented and coloured by type. */
import { element } from './elements.js'

/** Longer texts are slow to render in colour. */
const LONGEST_COLOURED = 200_000
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d[\d.eE+-]*)/g

export function jsonView(value) {
  const text = JSON.stringify(value, null, 2) ?? ''
  const pre = element('pre', { tabindex: '0' })
  if (text.length > LONGEST_COLOURED) pre.textContent = text
  else pre.append(...coloured(text))
  return pre
}

function coloured(text) {
  const parts = []
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    const [whole, quoted, colon, word] = match
    parts.push(text.slice(at, match.index))
    at = match.index + whole.length
    if (quoted === undefined)
      parts.push(element('span', { class: word === undefined ? 'json-number' : 'json-word', text: whole }))
    else if (colon === undefined) parts.push(element('span', { class: 'json-text', text: quoted }))
    else parts.push(element('span', { class: 'json-key', text: quoted }), colon)
  }
  return [...parts, text.slice(at)]
}
