/** Example values for the forms, from this server's live data. */
import { call, readStatus } from './api.js'

/** @typedef {{ chain: string, token: string, tokenId: string, symbol: string, pair: string, pairId: string, wallet: string, timeS: number }} Live */

/** The most traded token of all chains; undefined if there is none. */
export async function readLive(key) {
  const { chains } = await readStatus()
  const found = []
  for (const { chain } of chains) {
    const { tokens } = await call(key, `/v2/tokens/trending?chain=${encodeURIComponent(chain)}&page_size=1`)
    found.push(...tokens.filter((token) => token.main_pair))
  }
  const [first] = found.sort((a, b) => Number(b.tx_volume_u_24h ?? 0) - Number(a.tx_volume_u_24h ?? 0))
  if (first === undefined) return undefined
  const { chain, token, symbol, main_pair: pair } = first
  const timeS = chains.find((one) => one.chain === chain)?.time
  const pairId = `${pair}-${chain}`
  // Any address has the form of a wallet.
  const wallet = (await readWallet(key, { pairId })) || token
  return { chain, token, tokenId: `${token}-${chain}`, symbol, pair, pairId, wallet, timeS }
}

/** The wallet of the pair's last trade. */
export async function readWallet(key, { pairId }) {
  const { txs } = await call(key, `/v2/txs/swap/${encodeURIComponent(pairId)}?limit=1&sort=desc`)
  return txs[0]?.wallet_address ?? ''
}

/** The initial value of a parameter's field.
 * @param {string} name
 * @param {object} schema
 * @param {Live | undefined} live */
export function exampleFor(name, schema, live) {
  const known = {
    'token-id': live?.tokenId,
    'pair-id': live?.pairId,
    pair_id: live?.pairId,
    time: live?.timeS,
    chain: live?.chain,
    keyword: live?.symbol,
    token_address: live?.token,
    wallet_address: live?.wallet,
    account_address: live?.wallet,
    interval: '60',
  }
  return known[name] ?? schema.examples?.[0] ?? ''
}

/** A request body with the required fields and the defaults of the others. */
export function exampleBody(schema, live) {
  const entries = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (name === 'token_ids') return [[name, live === undefined ? [] : [live.tokenId]]]
    if (property.default !== undefined) return [[name, property.default]]
    if (property.examples !== undefined) return [[name, exampleFor(name, property, live)]]
    return (schema.required ?? []).includes(name) ? [[name, exampleFor(name, property, live)]] : []
  })
  return Object.fromEntries(entries)
}

/** Example subscribe params: the topic's name, then its declared params. */
export function exampleParams(schema, live) {
  const [name, ...rest] = Array.isArray(schema.items) ? schema.items : [{}]
  const declared = rest.filter((item) => item.description !== 'Options')
  const more = schema.additionalItems?.anyOf?.[0]
  return [name.const, ...[...declared, ...(more === undefined ? [] : [more])].map((item) => exampleItem(item, live))]
}

function exampleItem(item, live) {
  if (Array.isArray(item.items)) return item.items.map((part) => exampleItem(part, live))
  if (item.type === 'array') return [exampleItem(item.items ?? {}, live)]
  const about = `${item.title ?? ''} ${item.description ?? ''}`.toLowerCase()
  if (item.enum?.includes('k1') || about.includes('interval')) return 'k1'
  if (/token[- ]id|pair[- ]id/.test(about)) return live?.tokenId ?? ''
  if (about.includes('wallet')) return live?.wallet ?? ''
  if (about.includes('pair')) return live?.pair ?? ''
  if (about.includes('token')) return live?.token ?? ''
  return about.includes('chain') ? (live?.chain ?? '') : ''
}
