/** What fills the interface document's gaps, as data: the backticked lists of fields and the rules that can be read. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { between, bulletsOf, codesOf, sectionsOf } from './markdown.js'

export type HistoryFacts = {
  costCu: number
  limitDefault: number | undefined
  limitMax: number
  data: string[]
  item: string[]
}

export type WireFacts = {
  text: string
  /** The numbers of the operations that are wrapped without being asked to, and of those that are bare. */
  enveloped: number[]
  bare: number[]
  price: string[]
  token: string[]
  /** Beyond the token fields. */
  search: string[]
  detail: string[]
  detailPair: string[]
  contract: string[]
  contractDex: string[]
  contractRank: string[]
  holderExtras: string[]
  pair: string[]
  klines: HistoryFacts & { intervals: string[]; categories: string[] }
  swaps: HistoryFacts
  liquidity: HistoryFacts & { types: string[] }
  txExtras: string[]
  priceEntryExtras: string[]
  errorCodes: { code: number; meaning: string }[]
  ownTopics: string[]
  platformStages: string[]
}

const WIRE_FACTS = join(repositoryRoot(), '../shared/reference/wire-facts.md')

export const hasWireFacts = existsSync(WIRE_FACTS)

export const readWireFacts = (): WireFacts => parseWireFacts(readFileSync(WIRE_FACTS, 'utf8'))

export function parseWireFacts(text: string): WireFacts {
  const bullets = sectionsOf(text).flatMap(({ lines }) => bulletsOf(lines))
  const bullet = (start: string): string => {
    const found = bullets.find((one) => one.startsWith(start))
    if (found === undefined) throw new Error(`the document has no "${start}"`)
    return found
  }
  const envelope = bullet('Envelope on the real wire')
  const detail = bullet('Token detail adds')
  const contract = bullet('`GET /v2/contracts')
  return {
    text,
    enveloped: numbersOf(between(envelope, 'of unspecified fields', '; bare')),
    bare: numbersOf(between(envelope, 'as the spec says for', '; history')),
    price: listIn(bullet('`POST /v2/tokens/price`'), 'each value has'),
    token: listIn(bullet('Token fields'), 'share them):'),
    search: [
      ...windowed(bullet('`POST /v2/tokens/search`'), 'plus, for w in'),
      ...listIn(bullet('`POST /v2/tokens/search`'), ', and '),
    ],
    detail: [
      ...codesOf(between(detail, 'adds', 'and the 5m')).flatMap(braced),
      ...['buy', 'sell'].flatMap((side) => [`token_${side}_tx_count_5m`, `token_${side}_tx_volume_usd_5m`]),
      ...['token_buyers_5m', 'token_sellers_5m'],
    ],
    detailPair: listIn(detail, '`pairs[]`:'),
    contract: listIn(contract, '`GET /v2/contracts/{id}`:'),
    contractDex: listIn(contract, '`dex[]`:'),
    contractRank: listIn(contract, '`*_rank[]`:'),
    holderExtras: listIn(bullet('`GET /v2/tokens/top100'), 'Known extras:'),
    pair: [
      ...listIn(bullet('`GET /v2/pairs/'), '`GET /v2/pairs/{id}`:'),
      ...windowed(bullet('`GET /v2/pairs/'), 'for w in'),
    ],
    klines: klinesOf(bullet('`GET /v2/klines/pair/')),
    swaps: historyOf(bullet('`GET /v2/txs/swap/'), 'Swap item:'),
    liquidity: {
      ...historyOf(bullet('`GET /v2/txs/swap/'), 'Liquidity item:'),
      types: between(bullet('`GET /v2/txs/swap/'), 'liq also `type` ', '. `data`').split('|'),
    },
    txExtras: codesOf(between(bullet('`tx` pushes also carry'), 'carry', '. Price')).filter(
      (one) => !/buy|sell/.test(one),
    ),
    priceEntryExtras: codesOf(between(bullet('`tx` pushes also carry'), 'read by', ': adding')).flatMap((one) =>
      one.split('/'),
    ),
    errorCodes: [...bullet('Errors: JSON-RPC').matchAll(/(-\d+) ([a-z ]+?)(?: with[^,]*)?[,)]/g)].map(
      ([, code, meaning = '']) => ({ code: Number(code), meaning }),
    ),
    ownTopics: [...bullet('Our own messages').matchAll(/"topic":"(\w+)"/g)].map(([, topic]) => topic ?? ''),
    platformStages: between(bullet('`GET /v2/tokens/platform`'), '<platform>_', '`').split('|'),
  }
}

const numbersOf = (text: string): number[] => [...text.matchAll(/\d+/g)].map(Number)

/** The words of the first backticked list after a mark. */
function listIn(text: string, mark: string): string[] {
  const at = text.indexOf(mark)
  const [list] = at < 0 ? [] : codesOf(text.slice(at + mark.length).replace(/^[^`]*/, ''))
  if (list === undefined) throw new Error(`no list follows "${mark}"`)
  return repeated(list.split(/\s+/).map((word) => word.replace(/\[\]$/, '')))
}

/** `for w in 1m 5m: `a_w b_w_count`` as the fields of each window. */
function windowed(text: string, mark: string): string[] {
  const windows = between(text, mark, ':').trim().split(/\s+/)
  const names = listIn(text, `${mark}${between(text, mark, ':')}:`)
  return windows.flatMap((window) => names.map((name) => name.replace(/_w(?=_|$)/, `_${window}`)))
}

/** `a_{5m,1h}`. */
function braced(code: string): string[] {
  const [, before = '', choices] = /^(.*)\{(.*)\}$/.exec(code) ?? []
  return choices === undefined ? [code] : choices.split(',').map((choice) => `${before}${choice}`)
}

/** `token1_…` repeats what was said of token0, `to_token_…` of from_token. */
function repeated(names: string[]): string[] {
  const said: Record<string, string> = { token1_: 'token0_', to_token_: 'from_token_' }
  return names.flatMap((name) => {
    if (!name.endsWith('…')) return [name]
    const prefix = name.slice(0, -1)
    const model = said[prefix] ?? prefix
    return names.filter((one) => one.startsWith(model) && one !== name).map((one) => prefix + one.slice(model.length))
  })
}

function historyOf(text: string, mark: string): HistoryFacts {
  const [, standard] = /`limit` default (\d+)/.exec(text) ?? []
  return {
    costCu: Number(/\((\d+) CU\)/.exec(text)?.[1]),
    limitDefault: standard === undefined ? undefined : Number(standard),
    limitMax: Number(/`limit`[^`]*?max (\d+)/.exec(text)?.[1]),
    data: listIn(text, '`data`:'),
    item: listIn(text, mark),
  }
}

function klinesOf(text: string): WireFacts['klines'] {
  const point = between(text, 'a point `{', '}`').replace(': string', '').replace(': int', '').replace(',', '')
  return {
    ...historyOf(text, '`data`:'),
    item: point.split(/\s+/),
    intervals: numbersOf(between(text, '`interval` minutes (', ')')).map(String),
    categories: [...between(text, '`category` ', '. `data`').matchAll(/(?:^|\| )([a-z]) \(/g)].map(
      ([, one]) => one ?? '',
    ),
  }
}
