/**
 * Creates an element. `class`, `text` and `on…` listeners are handled; everything else is an attribute.
 * @param {string} tag
 * @param {Record<string, unknown>} [given]
 * @param {...(Node | string)} children
 */
export function element(tag, given = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === false) continue
    if (name === 'class') made.className = String(value)
    else if (name === 'text') made.textContent = String(value)
    else if (name.startsWith('on')) made.addEventListener(name.slice(2), /** @type {EventListener} */ (value))
    else made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...children)
  return made
}

/** @param {string} id */
export function byId(id) {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`Element #${id} not found`)
  return found
}
