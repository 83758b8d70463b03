/** The page at `/reference`, generated from the OpenAPI and AsyncAPI documents. */
import { CallError } from './api.js'
import { callPanel } from './call-panel.js'
import { byId, element } from './elements.js'
import { readLive } from './live-examples.js'
import { openShell, showNotice, watchStatus } from './shell.js'
import { topicPanel } from './topic-panel.js'

let key = ''
let live
/** By URL fragment. */
let entries = new Map()
let closePanel = () => {}

async function readDocuments() {
  const [openapi, asyncapi] = await Promise.all(
    ['/openapi.json', '/asyncapi.json'].map(async (path) => (await fetch(path)).json()),
  )
  entries = new Map([...callsOf(openapi), ...topicsOf(asyncapi)].map((entry) => [entry.anchor, entry]))
  showContents()
}

function callsOf(document) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      anchor: operation.operationId,
      group: operation.tags[0],
      label: operation.summary,
      badge: method.toUpperCase(),
      open: () => ({
        panel: callPanel({ method: method.toUpperCase(), path, operation, key, live }),
        close: () => {},
      }),
    })),
  )
}

function topicsOf(document) {
  const { messages } = document.components
  const names = Object.keys(messages).flatMap((name) => (name.startsWith('push_') ? [name.slice('push_'.length)] : []))
  return names.map((topic) => {
    const { payload: subscribe, summary = '' } = messages[`subscribe_${topic}`]
    return {
      anchor: `ws-${topic}`,
      group: 'WebSocket topics',
      label: topic,
      badge: 'WS',
      open: () => topicPanel({ topic, summary, subscribe, push: messages[`push_${topic}`].payload, key, live }),
    }
  })
}

function showContents() {
  const groups = Map.groupBy([...entries.values()], ({ group }) => group)
  byId('contents').replaceChildren(
    ...[...groups].flatMap(([group, inside]) => [
      element('h2', { text: group }),
      element(
        'ul',
        {},
        ...inside.map(({ anchor, label, badge }) =>
          element(
            'li',
            {},
            element(
              'a',
              { href: `#${anchor}` },
              element('span', { class: `method ${badge === 'WS' ? 'topic' : badge.toLowerCase()}`, text: badge }),
              element('span', { text: label }),
            ),
          ),
        ),
      ),
    ]),
  )
}

function showPanel() {
  const anchor = location.hash.slice(1)
  const entry = entries.get(anchor) ?? [...entries.values()][0]
  if (entry === undefined) return
  closePanel()
  const { panel, close } = entry.open()
  closePanel = close
  byId('panel').replaceChildren(panel)
  for (const link of byId('contents').querySelectorAll('a')) {
    if (link.hash === `#${entry.anchor}`) {
      link.setAttribute('aria-current', 'true')
      link.scrollIntoView({ block: 'nearest' })
    } else link.removeAttribute('aria-current')
  }
}

async function useKey(given) {
  key = given
  showNotice('')
  try {
    live = await readLive(key)
    if (live === undefined) showNotice('No trades yet, so the forms have no example values.')
  } catch (error) {
    if (error instanceof CallError && error.kind === 'key') shell.askForKey(error.message)
    else showNotice(error instanceof Error ? error.message : String(error))
  }
  await documentsRead
  showPanel()
}

const documentsRead = readDocuments().then(showPanel, (error) =>
  showNotice(`Cannot load the API documents: ${error.message}`),
)
addEventListener('hashchange', showPanel)
watchStatus({})
const shell = openShell({ onKey: useKey })
