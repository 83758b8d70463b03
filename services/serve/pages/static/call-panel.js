/** One REST operation: parameters, a Send button and the response. */
import { element } from './elements.js'
import { jsonView } from './json-view.js'
import { exampleBody, exampleFor, readWallet } from './live-examples.js'
import { shapeView } from './shape-view.js'

const HEADERS = [
  'content-type',
  'x-as-of',
  'x-reason',
  'x-cu-cost',
  'x-cu-remaining',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
]

/**
 * @param {{ method: string, path: string, operation: object, key: string, live: import('./live-examples.js').Live | undefined }} call
 */
export function callPanel({ method, path, operation, key, live }) {
  const parameters = operation.parameters ?? []
  const fields = parameters.map((parameter) => parameterField(parameter, live))
  const bodySchema = operation.requestBody?.content['application/json'].schema
  const body = bodySchema === undefined ? undefined : bodyField(bodySchema, live)
  const curl = element('pre', { class: 'mono' })
  const answer = element('div', { class: 'answer', id: 'answer', 'aria-live': 'polite' })

  const requestOf = () => ({ method, path: addressOf(path, parameters, fields), body: body?.input.value })
  const showCurl = () => {
    curl.textContent = curlOf(requestOf())
  }
  const form = element(
    'form',
    {
      class: 'fields',
      oninput: showCurl,
      onsubmit: (event) => {
        event.preventDefault()
        send(requestOf(), key, answer)
      },
    },
    ...fields.map(({ row }) => row),
    ...(body === undefined ? [] : [body.row]),
    element('div', { class: 'actions' }, element('button', { class: 'primary', text: 'Send' })),
  )
  showCurl()
  fillWallets(fields, parameters, key, live).then(showCurl, () => {})

  const { content } = operation.responses['200']
  return element(
    'article',
    { class: 'sheet call two' },
    element(
      'header',
      {},
      element('h1', { text: operation.summary }),
      element(
        'p',
        { class: 'path' },
        element('span', { class: `method ${method.toLowerCase()}`, text: method }),
        ` ${path} `,
        element('span', { class: 'soft', text: `${operation['x-cu-cost']} CU` }),
      ),
      ...(operation.description === undefined ? [] : [element('p', { class: 'soft', text: operation.description })]),
    ),
    form,
    element(
      'div',
      { class: 'exchange' },
      element(
        'div',
        { class: 'curl' },
        curl,
        copyButton(() => curlOf(requestOf(), key)),
      ),
      answer,
    ),
    content['application/json'] === undefined
      ? element('p', { class: 'soft', text: `Response: a file (${Object.keys(content).join(', ')})` })
      : shapeView('Response', content['application/json'].schema),
  )
}

function parameterField({ name, required, description, schema }, live) {
  const id = `field-${name}`
  const example = required ? exampleFor(name, schema, live) : ''
  const input = inputFor(id, schema, example, required)
  return { input, row: fieldRow(id, name, required, [description, boundsText(schema)], input) }
}

function inputFor(id, schema, example, required) {
  const choicesOf = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  if (choicesOf !== undefined) {
    const none = required
      ? []
      : [element('option', { value: '', text: schema.default === undefined ? '' : `(${schema.default})` })]
    const choices = choicesOf.map((value) => element('option', { value, text: value, selected: value === example }))
    return element('select', { id }, ...none, ...choices)
  }
  const placeholder = schema.default === undefined ? '' : String(schema.default)
  return element('input', {
    id,
    value: example,
    placeholder,
    autocomplete: 'off',
    spellcheck: 'false',
    ...(schema.type === 'integer' ? { inputmode: 'numeric' } : {}),
  })
}

function bodyField(schema, live) {
  const input = element('textarea', { id: 'field-body', spellcheck: 'false' })
  input.value = JSON.stringify(exampleBody(schema, live), null, 2)
  input.setAttribute('rows', String(input.value.split('\n').length + 2))
  const about = Object.entries(schema.properties ?? {}).map(
    ([name, { description = '' }]) => `${name}${description === '' ? '' : `: ${description}`}`,
  )
  return { input, row: fieldRow('field-body', 'body', true, about, input) }
}

function fieldRow(id, name, required, about, input) {
  const hint = about.filter((text) => text !== undefined && text !== '').join('. ')
  return element(
    'div',
    { class: 'field' },
    element('label', { for: id }, name, ...(required ? [element('sup', { text: '*', title: 'required' })] : [])),
    input,
    ...(hint === '' ? [] : [element('p', { text: hint })]),
  )
}

function boundsText({ minimum, maximum }) {
  if (minimum === undefined && maximum === undefined) return ''
  return maximum === undefined ? `From ${minimum}` : `${minimum ?? ''} to ${maximum}`
}

/** Fills wallet fields with the address of a recent trader. */
async function fillWallets(fields, parameters, key, live) {
  const wanted = fields.filter((_, index) => {
    const { name, required } = parameters[index]
    return required && /wallet|^address$|user_address/.test(name)
  })
  if (wanted.length === 0 || live === undefined) return
  const wallet = await readWallet(key, live)
  for (const { input } of wanted) if (input.value === '') input.value = wallet
}

function addressOf(path, parameters, fields) {
  let address = path
  const query = new URLSearchParams()
  for (const [index, { name, in: place }] of parameters.entries()) {
    const { value } = fields[index].input
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '') query.set(name, value)
  }
  return query.size === 0 ? address : `${address}?${query}`
}

/** Shows the key as a variable; the copied command contains it. */
function curlOf({ method, path, body }, key) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`
  const header = key === undefined ? '-H "X-API-KEY: $KEY"' : `-H ${quoted(`X-API-KEY: ${key}`)}`
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${header}`,
    ...(body === undefined ? [] : [`-H 'content-type: application/json' -d ${quoted(compact(body))}`]),
    quoted(`${location.origin}${path}`),
  ].join(' \\\n  ')
}

function compact(text) {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

function copyButton(textOf) {
  const button = element('button', { type: 'button', text: 'Copy', title: 'Copy with your API key' })
  // Browsers allow the clipboard only on https and localhost.
  button.hidden = navigator.clipboard === undefined
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(textOf())
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  return button
}

async function send({ method, path, body }, key, answer) {
  const startedMs = performance.now()
  let response
  try {
    const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    response = await fetch(path, { method, headers, ...(body === undefined ? {} : { body }) })
  } catch {
    answer.replaceChildren(element('p', { class: 'down', text: 'Cannot reach the server.' }))
    return
  }
  const isText = /json|text/.test(response.headers.get('content-type') ?? '')
  const bytes = await response.arrayBuffer()
  const tookMs = performance.now() - startedMs
  const headerItems = HEADERS.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [element('dt', { text: name }), element('dd', { text: value })]
  })
  answer.replaceChildren(
    element(
      'p',
      { class: 'status' },
      element('span', { class: response.ok ? 'up' : 'down', text: `${response.status} ${response.statusText}` }),
      element('span', {
        class: 'soft',
        text: `${tookMs.toFixed(0)} ms, ${bytes.byteLength.toLocaleString('en-US')} bytes`,
      }),
    ),
    element('dl', {}, ...headerItems),
    isText
      ? bodyView(new TextDecoder().decode(bytes))
      : element('p', { class: 'soft', text: 'A file: save it with curl.' }),
  )
}

function bodyView(text) {
  try {
    return jsonView(JSON.parse(text))
  } catch {
    return element('pre', { text })
  }
}
