/** One WebSocket topic: connect, subscribe, and inspect every frame sent and received. */
import { CallError, call } from './api.js'
import { element } from './elements.js'
import { jsonView } from './json-view.js'
import { exampleParams } from './live-examples.js'
import { shapeView } from './shape-view.js'

const MOST_FRAMES = 200

/**
 * @param {{ topic: string, summary: string, subscribe: object, push: object, key: string, live: object | undefined }} given
 * @returns {{ panel: HTMLElement, close: () => void }}
 */
export function topicPanel({ topic, summary, subscribe, push, key, live }) {
  const frames = element('ol', { class: 'frames', id: 'frames', hidden: true })
  const state = element('span', { class: 'connection', role: 'status', text: 'Not connected' })
  const params = element('textarea', { id: 'field-params', spellcheck: 'false' })
  params.value = JSON.stringify(exampleParams(subscribe.properties.params, live), null, 2)
  params.setAttribute('rows', String(params.value.split('\n').length + 2))
  let socket
  let nextId = 1

  function show(way, value) {
    const sign = { out: '→', in: '←', note: '·' }[way]
    const what = typeof value === 'string' ? value : frameView(value)
    const time = new Date().toISOString().slice(11, 23)
    frames.hidden = false
    frames.prepend(element('li', { 'data-way': way }, time, element('span', { text: sign }), what))
    while (frames.childElementCount > MOST_FRAMES) frames.lastElementChild?.remove()
  }

  function showState(name, text) {
    state.dataset.state = name
    state.textContent = text
  }

  /** Resolves once the socket is open. */
  async function connect() {
    if (socket?.readyState === WebSocket.OPEN) return
    showState('connecting', 'Connecting…')
    const access = await call(key, '/v2/ws/token', { method: 'POST' })
    const opened = new WebSocket(access.url)
    socket = opened
    opened.addEventListener('message', ({ data }) => show('in', JSON.parse(data)))
    opened.addEventListener('close', ({ code, reason }) => {
      showState('waiting', 'Not connected')
      show('note', `closed, ${code}${reason === '' ? '' : `: ${reason}`}`)
    })
    await new Promise((resolve, reject) => {
      opened.addEventListener('open', resolve)
      opened.addEventListener('error', () => reject(new CallError('unreachable', 'Cannot open the WebSocket.')))
    })
    showState('live', 'Connected')
    show('note', `connected to ${opened.url.replace(/token=[^&]*/, 'token=…')}`)
  }

  async function request(method, withParams) {
    try {
      const given = withParams ? { params: JSON.parse(params.value) } : {}
      await connect()
      const message = { jsonrpc: '2.0', id: nextId++, method, ...given }
      socket.send(JSON.stringify(message))
      show('out', message)
    } catch (error) {
      if (!(error instanceof SyntaxError)) showState('refused', 'Not connected')
      show('note', error instanceof SyntaxError ? `params is not valid JSON: ${error.message}` : String(error.message))
    }
  }

  const button = (text, onclick, primary = false) =>
    element('button', { type: 'button', text, onclick, ...(primary ? { class: 'primary' } : {}) })
  const panel = element(
    'article',
    { class: 'sheet call' },
    element(
      'header',
      {},
      element('h1', { text: summary === '' ? topic : summary }),
      element('p', { class: 'path' }, element('span', { class: 'method topic', text: 'WS' }), ` ${topic}`),
    ),
    element(
      'div',
      { class: 'fields' },
      element(
        'div',
        { class: 'field' },
        element('label', { for: 'field-params', text: 'params' }),
        params,
        element('p', { text: 'The topic, then its parameters, then an optional object with options.' }),
      ),
    ),
    element(
      'div',
      { class: 'actions' },
      button('Subscribe', () => request('subscribe', true), true),
      button('Unsubscribe', () => request('unsubscribe', true)),
      button('Ping', () => request('ping', false)),
      button('Clear', () => frames.replaceChildren()),
      button('Disconnect', () => socket?.close()),
      state,
    ),
    frames,
    shapeView('Push', push),
  )
  return { panel, close: () => socket?.close() }
}

function frameView(value) {
  const details = element('details', {}, element('summary', { text: JSON.stringify(value) }))
  details.addEventListener('toggle', () => {
    if (details.open && details.childElementCount === 1) details.append(jsonView(value))
  })
  return details
}
