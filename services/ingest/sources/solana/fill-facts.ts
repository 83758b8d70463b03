/** Completes token events with facts from the mints: names, supply and the mint's powers. */
import type { Event, MetaEvent, TokenEvent } from '../../../core/domain/records.js'
import { RecentMap } from './recent-map.js'
import type { TokenFacts, TokenFactsReader } from './token-facts.js'

/** A block's events, sorted by position; replaced by a list that also has the new meta events. */
export type FactsTarget = { events: Event[] }

export interface FactsFiller {
  /** If reading throws, no event is changed. */
  fill(blocks: readonly FactsTarget[], signal: AbortSignal): Promise<void>
}

type Called = { name: string | null; symbol: string | null }

const KEPT_NAMES = 100_000
/** Links a browser or a gateway can open; others are dropped. */
const LINK = /^(https?|ipfs|ar):\/\/\S+$/i

export function createFactsFiller(reader: Pick<TokenFactsReader, 'of'>, keptNames = KEPT_NAMES): FactsFiller {
  /** Names from the programs that created the tokens. They take precedence over metadata, which may change later. */
  const called = new RecentMap<string, Called>(keptNames)
  return {
    async fill(blocks, signal) {
      const mints = new Set<string>()
      for (const { events } of blocks) for (const event of events) if (event.type === 'token') mints.add(event.token)
      if (mints.size === 0) return
      const facts = await reader.of(mints, signal)
      for (const block of blocks) fillBlock(block, facts)
    },
  }

  function fillBlock(block: FactsTarget, facts: ReadonlyMap<string, TokenFacts>): void {
    const described = new Set<string>()
    const metas: MetaEvent[] = []
    for (const event of block.events) {
      if (event.type !== 'token') continue
      const found = facts.get(event.token)
      fillToken(event, found)
      if (found !== undefined && !described.has(event.token)) metas.push(metaOf(event, found))
      described.add(event.token)
    }
    if (metas.length > 0) block.events = withMetas(block.events, metas)
  }

  function fillToken(event: TokenEvent, facts: TokenFacts | undefined): void {
    const [name, symbol] = [textOf(event.name), textOf(event.symbol)]
    const before = called.get(event.token)
    const own: Called = { name: name ?? before?.name ?? null, symbol: symbol ?? before?.symbol ?? null }
    if (name !== null || symbol !== null) called.set(event.token, own)
    event.name = own.name ?? facts?.name ?? null
    event.symbol = own.symbol ?? facts?.symbol ?? null
    event.decimals ??= facts?.decimals ?? null
    event.total_supply ??= facts?.totalSupply?.toString() ?? null
  }
}

function textOf(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text
}

/** At the token's position; `sub` is set later. */
function metaOf({ tx_index, log_index, sub, tx_hash, token }: TokenEvent, { owner, risk, uri }: TokenFacts): MetaEvent {
  const links = uri !== null && LINK.test(uri) ? JSON.stringify({ metadata_uri: uri }) : null
  const metas = { total_supply: null, owner, risk: JSON.stringify(risk), logo_url: null, links, holders_complete: null }
  return { type: 'meta', tx_index, log_index, sub, tx_hash, token, ...metas }
}

/**
 * Inserts each after the last event of its instruction, not right after its token: so other events keep their `sub`, and with it
 * their identity, whatever facts were found.
 */
function withMetas(events: readonly Event[], metas: readonly MetaEvent[]): Event[] {
  const all: Event[] = []
  let next = 0
  for (const [place, event] of events.entries()) {
    all.push(event)
    const following = events[place + 1]
    if (following !== undefined && isSamePlace(following, event)) continue
    for (let { sub } = event; next < metas.length; next += 1) {
      const meta = metas[next]
      if (meta === undefined || !isSamePlace(meta, event)) break
      sub += 1
      all.push({ ...meta, sub })
    }
  }
  return all
}

function isSamePlace(one: Event, other: Event): boolean {
  return one.tx_index === other.tx_index && one.log_index === other.log_index
}
